// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: symbolic shapes, contents along chains of shape arithmetic, and values.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "op/test_graph.h"
#include "op/test_run.h"

namespace rota::op {
namespace {

using Ints = std::vector<std::int64_t>;

// ---- symbolic inference

TEST(MovementInference, ReshapeCancelsSizesOnBothSides) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[B, S, 768]");
  EXPECT_EQ(g.type("Reshape", {x, g.ints({0, 0, 12, -1})}), "float32[B, S, 12, 64]");
  EXPECT_EQ(g.type("Reshape", {x, g.ints({0, -1})}), "float32[B, 768*S]");
  EXPECT_EQ(g.type("Reshape", {x, g.ints({-1, 768})}), "float32[B*S, 768]");
  EXPECT_EQ(g.type("Reshape", {x, g.ints({-1})}), "float32[768*B*S]");
  EXPECT_EQ(g.type("Reshape", {x, g.ints({-1, -1})}), "R1204");
  EXPECT_EQ(g.type("Reshape", {x, g.ints({0, 0, 0, 0})}), "R1204");
  auto* fixed = g.input("y", DType::kFloat32, "[2, 3]");
  EXPECT_EQ(g.type("Reshape", {fixed, g.ints({4, 2})}), "R1204");
  EXPECT_EQ(g.type("Reshape", {fixed, g.ints({-1, 0})}, attributesOf({{"allowzero", std::int64_t{1}}})),
            "R1204");
}

TEST(MovementInference, ReshapeIsAFactAboutSizes) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[N]");
  auto* folded = g.add("Reshape", {x, g.ints({-1, 4})})[0];
  EXPECT_EQ(g.typeOf(folded), "float32[floordiv(N, 4), 4]");
  ASSERT_EQ(g.graph().sizes().guards().size(), 1U);
  EXPECT_NE(g.graph().sizes().guards()[0].node.find("Reshape"), std::string::npos);
  EXPECT_EQ(g.type("Reshape", {folded, g.ints({-1})}), "float32[N]") << "the division has no remainder";
  auto* a = g.input("a", DType::kFloat32, "[A, S]");
  auto* b = g.input("b", DType::kFloat32, "[B, S]");
  auto* shape = g.add("Shape", {b})[0];
  g.add("Reshape", {a, shape});
  EXPECT_EQ(g.graph().sizes().guards().size(), 2U);
  g.add("Add", {a, b});
  EXPECT_EQ(g.graph().sizes().guards().size(), 2U) << "A and B are the same by now";
}

TEST(MovementInference, ShapeChainOfAnExporterKeepsItsContents) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[B, S, 768]");
  auto* shape = g.add("Shape", {x})[0];
  auto* batch = g.add("Gather", {shape, g.scalar(0)})[0];
  auto* length = g.add("Gather", {shape, g.scalar(-2)})[0];
  EXPECT_EQ(g.contentsOf(batch), "{B}");
  EXPECT_EQ(g.contentsOf(length), "{S}");
  auto* batchVector = g.add("Unsqueeze", {batch, g.ints({0})})[0];
  auto* lengthVector = g.add("Unsqueeze", {length, g.ints({0})})[0];
  auto* target = g.add("Concat", {batchVector, lengthVector, g.ints({12, 64})},
                       attributesOf({{"axis", std::int64_t{0}}}))[0];
  EXPECT_EQ(g.contentsOf(target), "{B, S, 12, 64}");
  auto* heads = g.add("Reshape", {x, target})[0];
  EXPECT_EQ(g.typeOf(heads), "float32[B, S, 12, 64]");
  auto* turned = g.add("Transpose", {heads}, attributesOf({{"perm", Ints{0, 2, 1, 3}}}))[0];
  EXPECT_EQ(g.typeOf(turned), "float32[B, 12, S, 64]");
  EXPECT_EQ(g.contentsOf(g.add("Slice", {target, g.ints({1}), g.ints({3})})[0]), "{S, 12}");
  EXPECT_EQ(g.contentsOf(g.add("Slice", {target, g.ints({-1}), g.ints({-9}), g.ints({0}), g.ints({-2})})[0]),
            "{64, S}");
  const auto parts = g.add("Split", {target, g.ints({1, 3})}, {}, 2);
  EXPECT_EQ(g.contentsOf(parts[1]), "{S, 12, 64}");
  EXPECT_EQ(g.contentsOf(g.add("Tile", {batchVector, g.ints({2})})[0]), "{B, B}");
  EXPECT_EQ(g.contentsOf(g.add("Expand", {lengthVector, g.ints({2, 1})})[0]), "{S, S}");
  EXPECT_EQ(g.contentsOf(g.add("Squeeze", {batchVector, g.ints({0})})[0]), "{B}");
  EXPECT_EQ(g.contentsOf(g.add("Pad", {batchVector, g.ints({1, 0}), g.scalar(7)})[0]), "{7, B}");
  EXPECT_EQ(g.contentsOf(g.add("Size", {x})[0]), "{768*B*S}");
  EXPECT_EQ(g.contentsOf(g.add("Shape", {x},
                               attributesOf({{"start", std::int64_t{-2}}, {"end", std::int64_t{-1}}}))[0]),
            "{S}");
  auto* written = g.add("ScatterND", {target, g.constant(Tensor::ofInt64({2}, {1, 1})), lengthVector})[0];
  EXPECT_EQ(g.contentsOf(written), "{B, S, S, 64}");
  EXPECT_EQ(g.type("ConstantOfShape", {target}), "float32[B, S, 12, 64]");
  EXPECT_EQ(g.type("Expand", {g.input("one", DType::kFloat32, "[1, 1]"),
                              g.add("Slice", {target, g.ints({0}), g.ints({2})})[0]}),
            "float32[B, S]");
}

TEST(MovementInference, OneComputedElementDoesNotHideTheOthers) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[N, 12]");
  auto* heads = g.input("heads", DType::kInt64, "[1]");
  auto* target = g.add("Concat", {g.ints({-1}), heads}, attributesOf({{"axis", std::int64_t{0}}}))[0];
  auto* y = g.add("Reshape", {x, target})[0];
  ASSERT_NE(y, nullptr);
  // The computed element is a symbol of its own, and the -1 stays a -1.
  ASSERT_EQ(y->type.shape.rank(), 2U);
  EXPECT_EQ(g.graph().sizes().symbols().back().origin, SymbolOrigin::kHostResolved);
}

TEST(MovementInference, SliceOfSymbolicAxes) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "[N, 10]");
  const auto slice = [&](Ints starts, Ints ends, Ints axes, Ints steps) {
    return g.type("Slice", {x, g.ints(std::move(starts)), g.ints(std::move(ends)), g.ints(std::move(axes)),
                            g.ints(std::move(steps))});
  };
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(slice({0}, {1}, {0}, {1}), "float32[1, 10]");
  EXPECT_EQ(slice({0}, {most}, {0}, {1}), "float32[N, 10]");
  EXPECT_EQ(slice({1}, {most}, {0}, {1}), "float32[N - 1, 10]");
  EXPECT_EQ(slice({0}, {-1}, {0}, {1}), "float32[N - 1, 10]");
  EXPECT_EQ(slice({-1}, {-most},
                  {
                      0,
                  },
                  {-1}),
            "float32[N, 10]");
  EXPECT_EQ(slice({0}, {most}, {1}, {3}), "float32[N, 4]");
  EXPECT_EQ(slice({8}, {1}, {1}, {-3}), "float32[N, 3]");
  EXPECT_EQ(slice({5}, {2}, {1}, {1}), "float32[N, 0]");
  EXPECT_EQ(slice({0}, {1}, {1}, {0}), "R1206");
  EXPECT_EQ(slice({0}, {1}, {2}, {1}), "R1206");
  EXPECT_EQ(
      g.type("Slice", {x}, attributesOf({{"starts", Ints{2}}, {"ends", Ints{1000}}, {"axes", Ints{1}}}), 9),
      "float32[N, 8]");
}

TEST(MovementInference, UnknownRanksStayUnknownAndErrorsAreFound) {
  TestGraph g;
  auto* x = g.input("x", DType::kFloat32, "?");
  EXPECT_EQ(g.type("Transpose", {x}), "float32[?]");
  EXPECT_EQ(g.type("Gather", {x, g.scalar(0)}), "float32[?]");
  EXPECT_EQ(g.type("Concat", {x, x}, attributesOf({{"axis", std::int64_t{0}}})), "float32[?]");
  auto* y = g.input("y", DType::kFloat32, "[2, N]");
  EXPECT_EQ(g.type("Transpose", {y}, attributesOf({{"perm", Ints{0, 0}}})), "R1206");
  EXPECT_EQ(g.type("Squeeze", {y, g.ints({0})}), "R1204");
  EXPECT_EQ(g.type("Squeeze", {y, g.ints({1})}), "float32[2]");
  EXPECT_EQ(g.type("Unsqueeze", {y, g.ints({0, 0})}), "R1206");
  EXPECT_EQ(g.type("Unsqueeze", {y}), "R1207");
  EXPECT_EQ(g.type("Flatten", {y}, attributesOf({{"axis", std::int64_t{3}}})), "R1206");
  EXPECT_EQ(g.type("Flatten", {y}, attributesOf({{"axis", std::int64_t{0}}})), "float32[1, 2*N]");
  EXPECT_EQ(g.type("Split", {y}, {}, 13), "float32[2, N]");
  EXPECT_EQ(g.add("Split", {y, g.ints({1, 2})}, {}, 2).size(), 0U);
  EXPECT_EQ(g.status().code(), ErrorCode::kShapeMismatch);
  EXPECT_EQ(g.type("GatherND", {y, g.ints({0, 0, 0})}), "R1204");
  EXPECT_EQ(g.type("DepthToSpace", {g.input("z", DType::kFloat32, "[1, 6, 2, 2]")},
                   attributesOf({{"blocksize", std::int64_t{2}}})),
            "R1204");
  EXPECT_EQ(g.type("Pad", {y, g.ints({0, 1, 0, -2})}), "float32[2, N - 1]");
}

// ---- values

TEST(Movement, ReshapeWithZeros) {
  const Tensor empty = ref::makeFloats({0, 8, 2}, {});
  EXPECT_EQ(OperatorRun("Reshape", {empty, intTensor({4, 2, -1})}).text(), "float32[4, 2, 0]");
  const Attributes allowZero = attributesOf({{"allowzero", std::int64_t{1}}});
  EXPECT_EQ(OperatorRun("Reshape", {empty, intTensor({0, 0, 4})}, allowZero).text(), "float32[0, 0, 4]");
  EXPECT_EQ(
      OperatorRun("Reshape", {countingFloats({8, 2}), intTensor({-1, 2, 4})}, allowZero).text().substr(0, 16),
      "float32[2, 2, 4]");
  EXPECT_EQ(OperatorRun("Reshape", {empty, intTensor({0, -1})}, allowZero).text(), "R1204");
  // An empty batch goes through.
  EXPECT_EQ(OperatorRun("Reshape", {empty, intTensor({0, -1})}).text(), "float32[0, 16]");
}

TEST(Movement, TransposeOfEveryWidth) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kInt8, DType::kInt64, DType::kUInt4,
                            DType::kInt2, DType::kBool}) {
    const double scale = info(dtype).bits <= 2 || dtype == DType::kBool ? 0 : 1;
    const Tensor x = ref::makeTensor(dtype, {2, 3}, {0, scale, 1, scale * 3, 1, scale * 5});
    const std::vector<double> expected{0, scale * 3, scale, 1, 1, scale * 5};
    EXPECT_EQ(OperatorRun("Transpose", {x}).values(), expected) << info(dtype).name;
  }
  const Tensor x = countingFloats({2, 1, 3, 2});
  EXPECT_EQ(OperatorRun("Transpose", {x}, attributesOf({{"perm", Ints{3, 1, 0, 2}}})).text(),
            "float32[2, 1, 2, 3] 0 2 4 6 8 10 1 3 5 7 9 11");
}

TEST(Movement, ConcatAndSplitAreInverse) {
  const Tensor x = countingFloats({2, 5});
  const OperatorRun parts("Split", {x, intTensor({2, 0, 3})}, attributesOf({{"axis", std::int64_t{-1}}}), 3);
  EXPECT_EQ(parts.text(0), "float32[2, 2] 0 1 5 6");
  EXPECT_EQ(parts.text(1), "float32[2, 0]");
  const OperatorRun whole("Concat", {parts.value(0).tensor, parts.value(1).tensor, parts.value(2).tensor},
                          attributesOf({{"axis", std::int64_t{1}}}));
  EXPECT_EQ(whole.values(), ref::valuesOf(x));
  const OperatorRun uneven("Split", {countingFloats({5})}, attributesOf({{"num_outputs", std::int64_t{3}}}),
                           3);
  EXPECT_EQ(uneven.text(2), "float32[1] 4");
  EXPECT_EQ(OperatorRun("Split", {countingFloats({5})}, {}, 3, 13).text(), "R1204");
  // C15 (b): an empty part is no part.
  EXPECT_EQ(OperatorRun("Concat", {ref::makeFloats({0, 2}, {}), countingFloats({1, 2})},
                        attributesOf({{"axis", std::int64_t{0}}}))
                .text(),
            "float32[1, 2] 0 1");
}

TEST(Movement, SliceBothWays) {
  const Tensor x = countingFloats({7});
  const auto slice = [&](std::int64_t start, std::int64_t end, std::int64_t step) {
    return OperatorRun("Slice", {x, intTensor({start}), intTensor({end}), intTensor({0}), intTensor({step})})
        .text();
  };
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(slice(1, 6, 2), "float32[3] 1 3 5");
  EXPECT_EQ(slice(-3, most, 1), "float32[3] 4 5 6");
  EXPECT_EQ(slice(most, least, -3), "float32[3] 6 3 0");
  EXPECT_EQ(slice(-1, 2, -2), "float32[2] 6 4");
  EXPECT_EQ(slice(3, 3, 1), "float32[0]");
  EXPECT_EQ(slice(0, -100, 1), "float32[0]");
  EXPECT_EQ(slice(2, 100, most), "float32[1] 2");
  EXPECT_EQ(slice(2, -100, least), "float32[1] 2");
  EXPECT_EQ(OperatorRun("Slice", {countingFloats({2, 3}), intTensor({1, 2}), intTensor({2, 0}),
                                  intTensor({0, 1}), intTensor({1, -1})})
                .text(),
            "float32[1, 2] 5 4");
}

TEST(Movement, IndicesOutsideAreErrors) {
  const Tensor x = countingFloats({3, 2});
  EXPECT_EQ(OperatorRun("Gather", {x, intTensor({-1, 0})}).text(), "float32[2, 2] 4 5 0 1");
  EXPECT_EQ(OperatorRun("Gather", {x, intTensor({0, 3})}).text(), "R1406");
  EXPECT_EQ(OperatorRun("Gather", {x, intTensor({-4})}).text(), "R1406");
  const OperatorRun bad("GatherElements", {x, Tensor::ofInt64({0, 0, 5, 0}, {2, 2})});
  EXPECT_EQ(bad.text(), "R1406");
  EXPECT_NE(bad.status().toString().find("place 2"), std::string::npos) << bad.status().toString();
  EXPECT_EQ(OperatorRun("GatherND", {x, Tensor::ofInt64({2, -1, 0, 0}, {2, 2})}).text(), "float32[2] 5 0");
  EXPECT_EQ(OperatorRun("GatherND", {x, Tensor::ofInt64({2, 2}, {1, 2})}).text(), "R1406");
  EXPECT_EQ(OperatorRun("ScatterND", {x, Tensor::ofInt64({3}, {1, 1}), countingFloats({1, 2})}).text(),
            "R1406");
  EXPECT_EQ(OperatorRun("Gather", {countingFloats({0, 2}), Tensor::ofInt64({}, {0})}).text(),
            "float32[0, 2]");
}

TEST(Movement, GatherAlongAnInnerAxisAndWithBatches) {
  const Tensor x = countingFloats({2, 3, 2});
  EXPECT_EQ(
      OperatorRun("Gather", {x, Tensor::ofInt64({2, 0}, {1, 2})}, attributesOf({{"axis", std::int64_t{1}}}))
          .text(),
      "float32[2, 1, 2, 2] 4 5 0 1 10 11 6 7");
  EXPECT_EQ(OperatorRun("GatherND", {x, Tensor::ofInt64({1, 2}, {2, 1})},
                        attributesOf({{"batch_dims", std::int64_t{1}}}))
                .text(),
            "float32[2, 2] 2 3 10 11");
  EXPECT_EQ(OperatorRun("GatherElements", {countingFloats({2, 3}), Tensor::ofInt64({2, -3, 1, 1}, {2, 2})},
                        attributesOf({{"axis", std::int64_t{1}}}))
                .text(),
            "float32[2, 2] 2 0 4 4");
}

TEST(Movement, ScatterReductions) {
  const Tensor x = ref::makeFloats({4}, {1, 2, 3, 4});
  const Tensor where = intTensor({1, 1, -1});
  const auto scatter = [&](const char* reduction, std::vector<double> updates) {
    return OperatorRun("ScatterElements", {x, where, ref::makeFloats({3}, updates)},
                       attributesOf({{"reduction", std::string(reduction)}}))
        .text();
  };
  EXPECT_EQ(scatter("none", {10, 20, 30}), "float32[4] 1 20 3 30");
  EXPECT_EQ(scatter("add", {10, 20, 30}), "float32[4] 1 32 3 34");
  EXPECT_EQ(scatter("mul", {10, 20, 30}), "float32[4] 1 400 3 120");
  EXPECT_EQ(scatter("min", {10, -20, 30}), "float32[4] 1 -20 3 4");
  EXPECT_EQ(scatter("max", {10, 20, 30}), "float32[4] 1 20 3 30");
  EXPECT_EQ(scatter("max", {std::nan(""), 20, 30}), "float32[4] 1 nan 3 30");
  EXPECT_EQ(scatter("mean", {10, 20, 30}), "R1206");
  // int64 sums wrap.
  const Tensor big = Tensor::ofInt64({std::numeric_limits<std::int64_t>::max()}, {1});
  const OperatorRun sum("ScatterND", {big, Tensor::ofInt64({0}, {1, 1}), Tensor::ofInt64({1}, {1})},
                        attributesOf({{"reduction", std::string("add")}}));
  EXPECT_EQ(intAt(sum.value().tensor.view(), 0), std::numeric_limits<std::int64_t>::min());
}

TEST(Movement, TensorScatterWrapsOrRefuses) {
  const Tensor cache = ref::makeFloats({1, 3, 1}, {0, 0, 0});
  const Tensor update = ref::makeFloats({1, 2, 1}, {1, 2});
  const Attributes circular = attributesOf({{"mode", std::string("circular")}});
  EXPECT_EQ(OperatorRun("TensorScatter", {cache, update, intTensor({2})}, circular, 1, 24).text(),
            "float32[1, 3, 1] 2 0 1");
  EXPECT_EQ(OperatorRun("TensorScatter", {cache, update, intTensor({1})}, {}, 1, 24).text(),
            "float32[1, 3, 1] 0 1 2");
  EXPECT_EQ(OperatorRun("TensorScatter", {cache, update, intTensor({2})}, {}, 1, 24).text(), "R1406");
}

TEST(Movement, PadModes) {
  const Tensor x = ref::makeFloats({3}, {1, 2, 3});
  const auto pad = [&](const char* mode, Ints pads) {
    return OperatorRun("Pad", {x, intTensor(std::move(pads))}, attributesOf({{"mode", std::string(mode)}}))
        .text();
  };
  EXPECT_EQ(pad("constant", {1, 2}), "float32[6] 0 1 2 3 0 0");
  EXPECT_EQ(pad("edge", {1, 2}), "float32[6] 1 1 2 3 3 3");
  EXPECT_EQ(pad("reflect", {2, 3}), "float32[8] 3 2 1 2 3 2 1 2");
  EXPECT_EQ(pad("wrap", {1, 4}), "float32[8] 3 1 2 3 1 2 3 1");
  EXPECT_EQ(pad("constant", {-1, 1}), "float32[3] 2 3 0");
  EXPECT_EQ(pad("reflect", {-1, 1}), "float32[3] 2 3 2");
  EXPECT_EQ(pad("constant", {-2, -2}), "R1204");
  EXPECT_EQ(pad("mirror", {1, 1}), "R1206");
  EXPECT_EQ(OperatorRun(
                "Pad", {countingFloats({2, 2}), intTensor({1, 1}), ref::makeFloats({}, {9}), intTensor({-1})})
                .text(),
            "float32[2, 4] 9 0 1 9 9 2 3 9");
  EXPECT_EQ(OperatorRun("Pad", {x}, attributesOf({{"pads", Ints{1, 0}}, {"value", 5.0F}}), 1, 10).text(),
            "float32[4] 5 1 2 3");
  EXPECT_EQ(OperatorRun("Pad", {ref::makeFloats({0}, {}), intTensor({1, 1})}).text(), "float32[2] 0 0");
}

TEST(Movement, CenterCropPadKeepsTheCentre) {
  EXPECT_EQ(OperatorRun("CenterCropPad", {countingFloats({5}), intTensor({2})}).text(), "float32[2] 1 2");
  EXPECT_EQ(OperatorRun("CenterCropPad", {countingFloats({2}), intTensor({5})}).text(),
            "float32[5] 0 0 1 0 0");
}

TEST(Movement, ExpandAndTile) {
  EXPECT_EQ(OperatorRun("Expand", {ref::makeFloats({2, 1}, {1, 2}), intTensor({2, 1, 3})}).text(),
            "float32[2, 2, 3] 1 1 1 2 2 2 1 1 1 2 2 2");
  EXPECT_EQ(OperatorRun("Expand", {ref::makeFloats({1}, {1}), intTensor({0})}).text(), "float32[0]");
  EXPECT_EQ(OperatorRun("Expand", {ref::makeFloats({2}, {1, 2}), intTensor({3})}).text(), "R1204");
  EXPECT_EQ(OperatorRun("Tile", {countingFloats({1, 2}), intTensor({2, 2})}).text(),
            "float32[2, 4] 0 1 0 1 0 1 0 1");
  EXPECT_EQ(OperatorRun("Tile", {countingFloats({2}), intTensor({0})}).text(), "float32[0]");
}

TEST(Movement, DepthAndSpaceAreInverse) {
  const Tensor x = countingFloats({1, 8, 2, 3});
  for (const char* mode : {"DCR", "CRD"}) {
    const Attributes attributes = attributesOf({{"blocksize", std::int64_t{2}}, {"mode", std::string(mode)}});
    const OperatorRun space("DepthToSpace", {x}, attributes);
    ASSERT_EQ(space.text().substr(0, 19), "float32[1, 2, 4, 6]") << mode;
    const OperatorRun depth("SpaceToDepth", {space.value().tensor}, attributes, 1, 28);
    EXPECT_EQ(depth.values(), ref::valuesOf(x)) << mode;
  }
  const Tensor small = countingFloats({1, 4, 1, 1});
  EXPECT_EQ(OperatorRun("DepthToSpace", {small}, attributesOf({{"blocksize", std::int64_t{2}}})).text(),
            "float32[1, 1, 2, 2] 0 1 2 3");
}

}  // namespace
}  // namespace rota::op
