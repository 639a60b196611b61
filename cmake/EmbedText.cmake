# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=file.cc -DHEADER=a/b.h -DNAMESPACE=a::b "-DTEXTS=kName=path|..."
#       -P EmbedText.cmake
#
# Writes a source file that defines `const std::string_view kName` with the
# bytes of each file: texts, at most some hundred kilobytes each.
string(REPLACE "|" ";" texts "${TEXTS}")
file(WRITE "${OUT}" "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\n")
foreach(text IN LISTS texts)
  string(REGEX MATCH "^([^=]+)=(.+)$" _ "${text}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" content)
  # Raw, so that nothing needs escaping; one literal may be as long as it likes
  # for GCC and Clang.
  file(APPEND "${OUT}" "const std::string_view ${name} = R\"PACELINE_TEXT(")
  file(APPEND "${OUT}" "${content}")
  file(APPEND "${OUT}" ")PACELINE_TEXT\";\n\n")
endforeach()
file(APPEND "${OUT}" "}  // namespace ${NAMESPACE}\n")
