// SPDX-License-Identifier: Apache-2.0
/* A shared object for the test of SharedLibrary. */
int nereid_plugin_answer(void) { return 42; }
