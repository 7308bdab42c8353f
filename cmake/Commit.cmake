cmake_minimum_required(VERSION 3.22)
# Run at every build: writes the commit that is built into OUTPUT, and touches OUTPUT only where that
# changed. "+" behind it: the tree had changes. Empty where this is no git checkout.
execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=10 --dirty=+ --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "namespace headroom {\nextern const char* const kCommit;\nconst char* const kCommit = \"@commit@\";\n}  // namespace headroom\n" @ONLY)
