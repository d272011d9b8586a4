#!/usr/bin/env bash
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Starts a broker that is its own controller, at the address of the pod: /kafka.sh. Its log is in /tmp/kafka.
set -euo pipefail

address=$(hostname -i)
settings=/tmp/server.properties
cat >"$settings" <<END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:9093
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://:9092,CONTROLLER://localhost:9093
advertised.listeners=PLAINTEXT://${address%% *}:9092
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=/tmp/kafka
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
num.network.threads=1
num.io.threads=2
log.cleaner.enable=false
END

# 16 bytes in Base64
java -cp 'lib/*' kafka.tools.StorageTool format --ignore-formatted --cluster-id dGVzdGJlZC10ZXN0YmVkLQ --config "$settings"
read -ra options <<<"${JAVA_OPTS:--Xmx192m -XX:+UseSerialGC -XX:TieredStopAtLevel=1}"
exec java "${options[@]}" -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp 'lib/*' kafka.Kafka "$settings"
