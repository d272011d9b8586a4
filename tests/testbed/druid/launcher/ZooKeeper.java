// Copyright (c) 2026, druidops contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

import java.io.File;
import java.net.InetSocketAddress;
import java.util.Properties;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper server of its own, with the names that zoo.cfg has for its settings. */
final class ZooKeeper {
  private ZooKeeper() {}

  static void start(Properties settings) throws Exception {
    File data = new File(settings.getProperty("dataDir"));
    ZooKeeperServer server = new ZooKeeperServer(data, data, Integer.parseInt(settings.getProperty("tickTime")));
    InetSocketAddress address = new InetSocketAddress(
        settings.getProperty("clientPortAddress"), Integer.parseInt(settings.getProperty("clientPort")));
    int connections = Integer.parseInt(settings.getProperty("maxClientCnxns"));
    ServerCnxnFactory.createFactory(address, connections).startup(server);
  }
}
