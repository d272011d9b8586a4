# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every setting of the servers: the one place that decides on them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .artifacts import java
from .certificates import ALIAS, Certificates
from .configurations import Configuration

Settings = dict[str, str]

# In the order in which they are started: a broker that comes after the data servers waits 5 s for them.
DRUID_SERVERS = ("coordinator", "broker", "indexer", "historical", "router")
SERVERS = ("kafka", "zookeeper", *DRUID_SERVERS)
# Where each server has a process of its own: those that a client does without while another one restarts.
SECOND_SERVERS = ("broker-2", "historical-2", "middleManager")
PEONS = ("peon", "peon-2")
PORTS = (*SERVERS, *SECOND_SERVERS, *PEONS, "kafka_controller", "derby")
_HOST = "127.0.0.1"


# Of each JVM.
FLAGS = (
    # what Druid's own bin/run-java sets
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED",
    "-Duser.timezone=UTC",
    "-Dfile.encoding=UTF-8",
    "-Djava.util.logging.manager=org.apache.logging.log4j.jul.LogManager",
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:MaxDirectMemorySize=256m",
    # little work, soon done: half the processor time of the defaults
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # of Kafka's libraries
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info",
)


@dataclass(frozen=True)
class Layout:
    """Where one Druid has its files and ports."""

    directory: Path
    ports: Mapping[str, int]

    @property
    def certificates(self) -> Certificates:
        """The private CA and what it has signed."""
        return Certificates(self.directory / "certificates")

    @property
    def kafka(self) -> str:
        """The address of the Kafka broker."""
        return f"{_HOST}:{self.ports['kafka']}"

    def settings_of(self, server: str) -> Path:
        """The file with the settings of a server."""
        return self.directory / f"{server}.properties"


@dataclass(frozen=True, repr=False)
class Passwords:
    """Created for every start; the names of the users are Druid's."""

    admin: str
    internal: str
    stores: str


def settings(layout: Layout, configuration: Configuration, passwords: Passwords) -> dict[str, Settings]:
    """The settings of each server, by its name."""
    common = {
        **_common(layout),
        **(_basic_security(passwords) if configuration.basic_security else {}),
        **(_tls(layout.certificates, configuration, passwords) if configuration.tls else {}),
    }
    own = {
        "coordinator": _coordinator(),
        "broker": _broker(),
        "indexer": _indexer(layout),
        "historical": _historical(layout, "segment-cache"),
        "router": _router(),
        "broker-2": _broker(),
        "historical-2": _historical(layout, "segment-cache-2"),
        "middleManager": _middle_manager(layout),
    }
    port = "druid.tlsPort" if configuration.tls else "druid.plaintextPort"
    druid = {
        name: {**common, "druid.service": f"druid/{type_of(name)}", port: str(layout.ports[name]), **own[name]}
        for name in (*DRUID_SERVERS, *SECOND_SERVERS)
    }
    return {"kafka": _kafka(layout), "zookeeper": _zookeeper(layout), **druid}


def type_of(server: str) -> str:
    """The type of a server, of which there may be a second one."""
    return server.partition("-")[0]


def properties(values: Settings) -> str:
    """The text of a file that java.util.Properties reads in UTF-8."""
    return "".join(f"{name}={_escaped(value)}\n" for name, value in values.items())


def _escaped(value: str) -> str:
    value = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"\\{value}" if value.startswith((" ", "\t", "\f")) else value


def _common(layout: Layout) -> Settings:
    here = layout.directory
    derby = f"{_HOST}:{layout.ports['derby']}"
    return {
        "druid.host": _HOST,
        # without it they listen on all interfaces
        "druid.bindOnHost": "true",
        # all that are on the class path, and no others
        "druid.extensions.loadList": "[]",
        "druid.emitter": "noop",
        "druid.zk.service.host": f"{_HOST}:{layout.ports['zookeeper']}",
        "druid.zk.paths.base": "/druid",
        "druid.metadata.storage.type": "derby",
        "druid.metadata.storage.connector.connectURI": f"jdbc:derby://{derby}/{here}/metadata.db;create=true",
        "druid.metadata.storage.connector.host": _HOST,
        "druid.metadata.storage.connector.port": str(layout.ports["derby"]),
        "druid.storage.type": "local",
        "druid.storage.storageDirectory": f"{here}/segments",
        "druid.indexer.logs.type": "file",
        "druid.indexer.logs.directory": f"{here}/indexing-logs",
        "druid.indexer.task.baseDir": f"{here}/task",
        "druid.selectors.indexing.serviceName": "druid/overlord",
        "druid.selectors.coordinator.serviceName": "druid/coordinator",
        "druid.lookup.enableLookupSyncOnStartup": "false",
        "druid.lookup.numLookupLoadingThreads": "1",
        "druid.server.http.numThreads": "10",
        "druid.global.http.numConnections": "10",
        "druid.processing.buffer.sizeBytes": "5MiB",
        "druid.processing.numMergeBuffers": "2",
        "druid.processing.numThreads": "1",
        "druid.cache.sizeInBytes": "1000000",
    }


def _coordinator() -> Settings:
    return {
        "druid.coordinator.asOverlord.enabled": "true",
        "druid.coordinator.asOverlord.overlordService": "druid/overlord",
        "druid.coordinator.startDelay": "PT0.1S",
        "druid.coordinator.period": "PT0.5S",
        "druid.manager.segments.pollDuration": "PT0.5S",
        # a change of the rules is effective at once; after a poll that overlaps with it, the former rules are
        "druid.manager.rules.pollDuration": "PT1H",
        "druid.manager.lookups.period": "1000",
        "druid.indexer.storage.type": "metadata",
        "druid.indexer.queue.startDelay": "PT0S",
        "druid.indexer.queue.restartDelay": "PT0S",
    }


def _broker() -> Settings:
    return {
        "druid.broker.http.numConnections": "5",
        "druid.sql.planner.metadataRefreshPeriod": "PT1S",
        # one that is stopped, not killed, answers until the others know that
        "druid.server.http.unannouncePropagationDelay": "PT5S",
    }


def _indexer(layout: Layout) -> Settings:
    # a query that ingests takes two slots, and each slot requires memory
    return {
        "druid.worker.capacity": "6",
        "druid.worker.baseTaskDirs": json.dumps([f"{layout.directory}/task"]),
        # a published task ends when its segments are served, which it checks once a minute by default
        "druid.segment.handoff.pollDuration": "PT1S",
    }


def _middle_manager(layout: Layout) -> Settings:
    """Its tasks have JVMs of their own, the peons."""
    return {
        "druid.worker.capacity": str(len(PEONS)),
        "druid.worker.baseTaskDirs": json.dumps([f"{layout.directory}/task-2"]),
        "druid.segment.handoff.pollDuration": "PT1S",
        "druid.indexer.runner.javaCommand": java(),
        "druid.indexer.runner.javaOptsArray": json.dumps(["-Xmx128m", *FLAGS]),
        "druid.indexer.runner.ports": json.dumps([layout.ports[each] for each in PEONS]),
    }


def _historical(layout: Layout, cache: str) -> Settings:
    location = {"path": f"{layout.directory}/{cache}", "maxSize": "1g"}
    return {
        "druid.segmentCache.locations": json.dumps([location]),
        "druid.server.http.unannouncePropagationDelay": "PT5S",
    }


def _router() -> Settings:
    return {
        "druid.router.managementProxy.enabled": "true",
        "druid.router.defaultBrokerServiceName": "druid/broker",
        "druid.router.coordinatorServiceName": "druid/coordinator",
        "druid.router.http.numConnections": "10",
    }


def _basic_security(passwords: Passwords) -> Settings:
    authenticator = {
        "type": "basic",
        "initialAdminPassword": passwords.admin,
        "initialInternalClientPassword": passwords.internal,
        "credentialsValidator.type": "metadata",
        "skipOnFailure": "false",
        "authorizerName": "basic",
    }
    escalator = {
        "type": "basic",
        "internalClientUsername": "druid_system",
        "internalClientPassword": passwords.internal,
        "authorizerName": "basic",
    }
    return {
        "druid.auth.authenticatorChain": '["basic"]',
        "druid.auth.authorizers": '["basic"]',
        "druid.auth.authorizer.basic.type": "basic",
        **{f"druid.auth.authenticator.basic.{name}": value for name, value in authenticator.items()},
        **{f"druid.escalator.{name}": value for name, value in escalator.items()},
    }


def _tls(certificates: Certificates, configuration: Configuration, passwords: Passwords) -> Settings:
    https = {
        "keyStoreType": "PKCS12",
        "keyStorePath": str(certificates.key_store),
        "keyStorePassword": passwords.stores,
        "certAlias": ALIAS,
        "requireClientCertificate": str(configuration.client_certificate).lower(),
        "trustStoreType": "PKCS12",
        "trustStorePath": str(certificates.trust_store),
        "trustStorePassword": passwords.stores,
    }
    return {
        "druid.enablePlaintextPort": "false",
        "druid.enableTlsPort": "true",
        **{f"druid.server.https.{name}": value for name, value in https.items()},
    }


def _zookeeper(layout: Layout) -> Settings:
    return {
        "dataDir": f"{layout.directory}/zookeeper",
        # milliseconds: a session outlives its client by 20 ticks at most
        "tickTime": "500",
        "clientPortAddress": _HOST,
        "clientPort": str(layout.ports["zookeeper"]),
        "maxClientCnxns": "1000",
    }


def _kafka(layout: Layout) -> Settings:
    controller = f"{_HOST}:{layout.ports['kafka_controller']}"
    return {
        # for the launcher: what an empty log directory is prepared with; 16 bytes in Base64
        "testbed.cluster.id": "dGVzdGJlZC10ZXN0YmVkLQ",
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://{layout.kafka},CONTROLLER://{controller}",
        "advertised.listeners": f"PLAINTEXT://{layout.kafka}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": f"{layout.directory}/kafka",
        "auto.create.topics.enable": "false",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "num.network.threads": "1",
        "num.io.threads": "2",
        "log.cleaner.enable": "false",
    }
