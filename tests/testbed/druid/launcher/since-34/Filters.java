// Copyright (c) 2026, druidops contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

import com.google.inject.Injector;

/** From Druid 34 on the injector makes each server's filters: nothing is left to do. */
final class Filters {
  private Filters() {}

  static void separate(Injector injector) {}
}
