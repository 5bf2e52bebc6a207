# isobar::lm: language models, their blocks, generation, and models of Hugging Face's format.
file(GLOB sources CONFIGURE_DEPENDS nn/lm/*.cpp)
isobar_door(lm nn/lm/lm.h ${sources})
isobar_headers(nn/lm)
target_link_libraries(isobar_lm PUBLIC isobar)
