/// The target that compiles the headers that most tests include; they are listed in CMakeLists.txt.
