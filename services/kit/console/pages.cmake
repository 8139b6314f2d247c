# console_markup(TARGET FOLDER): the pages FOLDER/*.html become tables (services/kit/console/markup.h) in TARGET, `NAME_markup` for NAME.html.
# README.md tells the syntax of pages. Several folders may go into one target.
function(console_markup target folder)
  cmake_path(ABSOLUTE_PATH folder NORMALIZE OUTPUT_VARIABLE whole)
  get_filename_component(name ${whole} NAME)
  file(GLOB pages CONFIGURE_DEPENDS ${whole}/*.html ${whole}/words/*.txt)
  file(GLOB programs ${CMAKE_SOURCE_DIR}/services/kit/console/*.py)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${target}_${name}_markup.c)
  add_custom_command(OUTPUT ${made}
    COMMAND /usr/bin/python3 -B ${CMAKE_SOURCE_DIR}/services/kit/console/markup_to_c.py ${whole} ${made}
    DEPENDS ${programs} ${pages} COMMENT "${target}_${name}_markup.c from ${folder}/*.html")
  add_custom_target(made_${target}_${name}_markup DEPENDS ${made})
  add_dependencies(made_sources made_${target}_${name}_markup)
  target_sources(${target} PRIVATE ${made})
  target_link_libraries(${target} PUBLIC kit_console)
endfunction()
