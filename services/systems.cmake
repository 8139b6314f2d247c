# What a system brings to the processes and commands that all systems share: its endpoints to the gateway, its kinds of documents to the
# mirror, and so on. Such a kind of table is called a face. A process that serves a face links registered_<face>, whose one list,
# registered_<face>[], holds the tables of all systems in the order in which they are registered, ended by a NULL.
#
# A system is registered where it is built, so that a further one touches no file of the others:
#
#   cartbus_system_brings(carts timers carts_timers carts_registered)
#   cartbus_system_brings(carts timer_setters carts_timer_setters carts_registered)
#
# says that carts_timers[], an array of the face's type, is defined in the library carts_registered, and so is carts_timer_setters[]: the
# topics that timers may fire, and the services that may set such timers. -DCARTBUS_MORE_SYSTEMS=FOLDER;... builds
# further systems than those of services/.

# cartbus_face(FACE TYPE HEADER): the element of its tables, a C type, and the header that declares it and registered_<face>.
function(cartbus_face face type header)
  set_property(GLOBAL APPEND PROPERTY CARTBUS_FACES ${face})
  set_property(GLOBAL PROPERTY CARTBUS_FACE_TYPE_${face} "${type}")
  set_property(GLOBAL PROPERTY CARTBUS_FACE_HEADER_${face} ${header})
endfunction()

# cartbus_system_brings(SYSTEM FACE TABLE LIBRARY): LIBRARY may be built later than this is said.
function(cartbus_system_brings system face table library)
  get_property(faces GLOBAL PROPERTY CARTBUS_FACES)
  if(NOT face IN_LIST faces)
    list(JOIN faces ", " known)
    message(FATAL_ERROR "the system ${system} brings \"${face}\"; expected one of: ${known}")
  endif()
  set_property(GLOBAL APPEND PROPERTY CARTBUS_FACE_TABLES_${face} ${table})
  set_property(GLOBAL APPEND PROPERTY CARTBUS_FACE_LIBRARIES_${face} ${library})
endfunction()

# Makes a library of one C file. Into a further installation its object itself is linked, so that it stands in for the one that the
# libraries of the processes were linked with.
function(cartbus_made_library installation name code)
  set(made ${CMAKE_BINARY_DIR}/registered/${installation}${name}.c)
  file(CONFIGURE OUTPUT ${made} CONTENT "${code}" @ONLY)
  if(installation STREQUAL "")
    add_library(${name} STATIC ${made})
  else()
    add_library(${installation}${name} OBJECT ${made})
  endif()
  add_dependencies(${installation}${name} made_sources)
endfunction()

# cartbus_register_systems(INSTALLATION PROCESS...): after all systems were added: one library <INSTALLATION>registered_<face> for each
# face, and <INSTALLATION>registered_programs with programs_all[]. INSTALLATION is "" for the one that is installed.
function(cartbus_register_systems installation)
  get_property(faces GLOBAL PROPERTY CARTBUS_FACES)
  foreach(face ${faces})
    get_property(type GLOBAL PROPERTY CARTBUS_FACE_TYPE_${face})
    get_property(header GLOBAL PROPERTY CARTBUS_FACE_HEADER_${face})
    get_property(tables GLOBAL PROPERTY CARTBUS_FACE_TABLES_${face})
    get_property(libraries GLOBAL PROPERTY CARTBUS_FACE_LIBRARIES_${face})
    set(code "#include \"${header}\"\n#include <stddef.h>\n\n")
    set(rows "")
    foreach(table ${tables})
      string(APPEND code "extern const ${type} ${table}[];\n")
      string(APPEND rows "\t${table},\n")
    endforeach()
    string(APPEND code "\nconst ${type} *const registered_${face}[] = {\n${rows}\tNULL,\n};\n")
    cartbus_made_library("${installation}" registered_${face} "${code}")
    list(REMOVE_DUPLICATES libraries)
    target_link_libraries(${installation}registered_${face} PUBLIC bus_proto ${libraries})
  endforeach()
  list(REMOVE_ITEM ARGN cartbus)
  list(JOIN ARGN "\", \"" names)
  cartbus_made_library("${installation}" registered_programs
    "#include \"services/cartbus/core/home.h\"\n#include <stddef.h>\n\nconst char *const programs_all[] = { \"broker\", \"${names}\", NULL };\n")
endfunction()

# cartbus_topology(INSTALLATION FOLDER PROCESS...): FOLDER/share/cartbus/topology.conf is what the tables of the processes declare. The
# broker reads it; nothing is declared twice.
function(cartbus_topology installation folder)
  set(topology ${folder}/share/cartbus/topology.conf)
  set(manifests "")
  set(processes "")
  foreach(process ${ARGN})
    list(APPEND manifests COMMAND ${installation}cartbus-${process} --manifest >> ${topology})
    list(APPEND processes ${installation}cartbus-${process})
  endforeach()
  add_custom_command(OUTPUT ${topology}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}/share/cartbus
    COMMAND ${CMAKE_COMMAND} -E rm -f ${topology}
    ${manifests}
    DEPENDS ${processes} COMMENT "topology.conf from the services' tables")
  add_custom_target(${installation}topology ALL DEPENDS ${topology})
endfunction()

# The libraries registered_<...> that a target is linked with, also through others.
function(cartbus_registered_of target result)
  set(open ${target})
  set(seen "")
  set(found "")
  while(open)
    list(POP_FRONT open one)
    if(one IN_LIST seen OR NOT TARGET ${one})
      continue()
    endif()
    list(APPEND seen ${one})
    if(one MATCHES "^registered_")
      list(APPEND found ${one})
      continue() # what the tables are linked with is another process's
    endif()
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(libraries ${one} ${property})
      if(libraries)
        string(REGEX REPLACE "\\$<LINK_ONLY:([^>]*)>" "\\1" libraries "${libraries}")
        list(APPEND open ${libraries})
      endif()
    endforeach()
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# cartbus_installation(NAME FOLDER): a further installation, of all systems that were added by now: its programs in FOLDER/bin, its
# topology in FOLDER/share. Nothing of it is installed: tests run it.
function(cartbus_installation name folder)
  get_property(processes GLOBAL PROPERTY CARTBUS_SERVICES)
  cartbus_register_systems(${name}_ ${processes})
  foreach(process ${processes})
    get_property(main GLOBAL PROPERTY CARTBUS_MAIN_${process})
    get_target_property(program cartbus-${process} OUTPUT_NAME)
    if(NOT program)
      set(program cartbus-${process})
    endif()
    cartbus_registered_of(cartbus-${process} registered)
    add_executable(${name}_cartbus-${process} ${main})
    set_target_properties(${name}_cartbus-${process} PROPERTIES OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${folder}/bin)
    foreach(library ${registered})
      target_link_libraries(${name}_cartbus-${process} PRIVATE ${name}_${library})
    endforeach()
    target_link_libraries(${name}_cartbus-${process} PRIVATE service_${process})
  endforeach()
  cartbus_topology(${name}_ ${folder} ${processes})
  add_custom_target(${name}_broker ALL DEPENDS cartbus-broker
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}/bin
    COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:cartbus-broker> ${folder}/bin/cartbus-broker)
endfunction()
