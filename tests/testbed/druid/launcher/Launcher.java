// Copyright (c) 2026, druidops contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.logging.LogManager;

/**
 * Runs servers of one Druid in this JVM: Launcher DIRECTORY SERVER...
 *
 * Each server has its settings in DIRECTORY/SERVER.properties, and the next one is started when it has started.
 */
public final class Launcher {
  private Launcher() {}

  public static void main(String[] arguments) throws Exception {
    // the class loader of the first caller determines whether the logs of java.util.logging are Druid's
    LogManager.getLogManager();
    Path directory = Path.of(arguments[0]);
    for (int index = 1; index < arguments.length; index++) {
      start(arguments[index], directory.resolve(arguments[index] + ".properties"));
    }
  }

  private static void start(String server, Path settings) throws Exception {
    switch (server) {
      case "kafka":
        KafkaBroker.start(settings);
        break;
      case "zookeeper":
        ZooKeeper.start(properties(settings));
        break;
      default:
        DruidServer.start(server, properties(settings));
    }
  }

  static Properties properties(Path file) throws Exception {
    Properties properties = new Properties();
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    }
    return properties;
  }

  /** Starts a thread. If it fails, the whole JVM ends with the error, so that no client waits in vain. */
  static void run(String name, ClassLoader classes, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setContextClassLoader(classes);
    thread.setUncaughtExceptionHandler((failed, error) -> {
      error.printStackTrace();
      Runtime.getRuntime().halt(1);
    });
    thread.start();
  }
}
