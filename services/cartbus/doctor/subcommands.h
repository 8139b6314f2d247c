/* subcommands.h: the subcommands that judge an installation */
#ifndef CARTBUS_DOCTOR_SUBCOMMANDS_H
#define CARTBUS_DOCTOR_SUBCOMMANDS_H

#include "services/cartbus/core/subcommand.h"

command_fn command_doctor;

extern const struct subcommand doctor_subcommands[]; /* registered in services/cartbus/CMakeLists.txt */

#endif
