// What models of an encoder and a decoder share. Pure functions; safe from any thread.
#pragma once

#include <string>

#include "core/model/model_source.h"
#include "core/model/model_spec.h"

namespace headroom {

// The embedding of both stacks, below PREFIX: of the names under which files have it, the first that is there.
[[nodiscard]] std::string shared_embedding(const ModelSource& source, const std::string& prefix);

// PREFIX where it stands in front of one of these names, else nothing.
[[nodiscard]] std::string shared_prefix(const ModelSource& source, const std::string& prefix);

// What is shared may stand in the file under each of these names: those that are not read are set aside.
void set_shared_aside(ModelSpec& model, const std::string& prefix);

// Keys and values of the encoder.
void use_encoder(AttentionSpec& attention);

}  // namespace headroom
