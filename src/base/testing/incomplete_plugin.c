// SPDX-License-Identifier: Apache-2.0
/* A shared object that cannot be loaded: nobody defines what it calls. */
int nereid_function_that_nobody_defines(void);
int nereid_plugin_answer(void) { return nereid_function_that_nobody_defines(); }
