/// What training and evaluation tell the loader alike.
#pragma once

#include "convoy/data/loader.h"

#include "train/engine.h"

namespace convoy {

/// This rank's share: its micro-batches, images on the first stage, labels on the last. Steps are left to the caller.
LoaderSpec loader_spec(const Engine& engine, const Parameters& params);

}  // namespace convoy
