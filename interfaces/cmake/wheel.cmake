# Read by CMake right after project() when pip builds this package (see pyproject.toml); colcon does not use it.
#
# 1. The ROS packages come as wheels into pip's build environment: find that environment and search it.
# 2. The wheels' exported targets name include folders of the machine that built them; CMake refuses folders that
#    do not exist, so they are dropped once every target is known.
# 3. Python uses the C messages alone: the C++ ones, half of what would be generated and compiled, are left out.

find_program(HVS_PYTHON NAMES python3 python REQUIRED)
if(DEFINED Python3_EXECUTABLE)
  set(HVS_PYTHON "${Python3_EXECUTABLE}")
elseif(DEFINED Python_EXECUTABLE)
  set(HVS_PYTHON "${Python_EXECUTABLE}")
endif()
execute_process(
  COMMAND "${HVS_PYTHON}" -c "import pathlib, rosidl_pycommon; print(pathlib.Path(rosidl_pycommon.__file__).parents[4])"
  OUTPUT_VARIABLE HVS_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "ROS packages from ${HVS_PREFIX}")
list(PREPEND CMAKE_PREFIX_PATH "${HVS_PREFIX}")
set(ENV{AMENT_PREFIX_PATH} "${HVS_PREFIX}")

function(hvs_drop_missing_include_folders)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(folders)
      set(kept "")
      foreach(folder IN LISTS folders)
        if(folder MATCHES "^\\$<" OR EXISTS "${folder}")
          list(APPEND kept "${folder}")
        endif()
      endforeach()
      set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${kept}")
    endif()
  endforeach()
endfunction()
cmake_language(DEFER CALL hvs_drop_missing_include_folders)

find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
