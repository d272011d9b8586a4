// Copyright (c) 2026, druidops contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

import java.io.File;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;

/** A Kafka broker that is its own controller, in a class loader of its own: its libraries are not those of Druid. */
final class KafkaBroker {
  private KafkaBroker() {}

  static void start(Path settings) throws Exception {
    ClassLoader classes = new URLClassLoader("kafka", jars(), ClassLoader.getPlatformClassLoader());
    Thread thread = Thread.currentThread();
    ClassLoader own = thread.getContextClassLoader();
    thread.setContextClassLoader(classes);
    format(classes, settings);
    thread.setContextClassLoader(own);
    Launcher.run("kafka", classes, () -> main(classes, settings));
  }

  private static URL[] jars() throws Exception {
    String[] paths = System.getProperty("testbed.kafka.class.path").split(File.pathSeparator);
    URL[] jars = new URL[paths.length];
    for (int index = 0; index < paths.length; index++) {
      jars[index] = new File(paths[index]).toURI().toURL();
    }
    return jars;
  }

  /** Prepares an empty log directory and leaves one with data as it is. */
  private static void format(ClassLoader classes, Path settings) throws Exception {
    String[] arguments = {"format", "--ignore-formatted", "-t", identifier(settings), "-c", settings.toString()};
    Object status = classes.loadClass("kafka.tools.StorageTool")
        .getMethod("execute", String[].class, PrintStream.class)
        .invoke(null, arguments, System.out);
    if (!Integer.valueOf(0).equals(status)) {
      throw new IllegalStateException("kafka.tools.StorageTool " + Arrays.toString(arguments) + ": " + status);
    }
  }

  private static String identifier(Path settings) throws Exception {
    return Launcher.properties(settings).getProperty("testbed.cluster.id");
  }

  private static void main(ClassLoader classes, Path settings) {
    try {
      String[] arguments = {settings.toString()};
      classes.loadClass("kafka.Kafka").getMethod("main", String[].class).invoke(null, (Object) arguments);
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }
}
