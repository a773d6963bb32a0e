// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals, and the refusal of string operators.
#include <gtest/gtest.h>

#include "op/test_run.h"

namespace rota::op {
namespace {

std::string sequenceText(const EvaluatedValue& value) {
  std::string text = "(";
  for (const Tensor& element : value.sequence->elements)
    text += (text.size() > 1 ? "; " : "") + tensorText(element);
  return text + ")";
}
std::string sequenceText(const OperatorRun& run) {
  return run.status().isOk() ? sequenceText(run.value()) : errorCodeText(run.status().code());
}
EvaluatedValue asValue(Tensor tensor) { return {.tensor = std::move(tensor), .sequence = {}}; }

TEST(Sequence, InsertEraseAtLength) {
  const OperatorRun pair("SequenceConstruct", {countingFloats({1}), countingFloats({2})});
  ASSERT_EQ(sequenceText(pair), "(float32[1] 0; float32[2] 0 1)");
  const EvaluatedValue& sequence = pair.value();
  const Tensor more = ref::makeFloats({}, {7});
  EXPECT_EQ(sequenceText(OperatorRun("SequenceInsert", {sequence, asValue(more)})),
            "(float32[1] 0; float32[2] 0 1; float32[] 7)");
  EXPECT_EQ(sequenceText(OperatorRun("SequenceInsert", {sequence, asValue(more), asValue(intScalar(-2))})),
            "(float32[] 7; float32[1] 0; float32[2] 0 1)");
  EXPECT_EQ(sequenceText(OperatorRun("SequenceInsert", {sequence, asValue(more), asValue(intScalar(3))})),
            "R1406");
  EXPECT_EQ(sequenceText(OperatorRun("SequenceErase", {sequence})), "(float32[1] 0)");
  EXPECT_EQ(sequenceText(OperatorRun("SequenceErase", {sequence, asValue(intScalar(0))})),
            "(float32[2] 0 1)");
  EXPECT_EQ(OperatorRun("SequenceAt", {sequence, asValue(intScalar(-1))}).text(), "float32[2] 0 1");
  EXPECT_EQ(OperatorRun("SequenceAt", {sequence, asValue(intScalar(2))}).text(), "R1406");
  EXPECT_EQ(OperatorRun("SequenceLength", {sequence}).text(), "int64[] 2");
  EXPECT_EQ(OperatorRun("SequenceLength", {countingFloats({2})}).text(), "R1205");
  const OperatorRun empty("SequenceEmpty", std::vector<Tensor>{}, attributesOf({{"dtype", std::int64_t{7}}}));
  EXPECT_EQ(sequenceText(empty), "()");
  EXPECT_EQ(sequenceText(OperatorRun("SequenceErase", {empty.value()})), "R1406");
}

TEST(Sequence, SplitAndConcat) {
  const Tensor x = countingFloats({2, 3});
  const Attributes columns = attributesOf({{"axis", std::int64_t{1}}});
  const OperatorRun parts("SplitToSequence", {x, intScalar(2)}, columns);
  EXPECT_EQ(sequenceText(parts), "(float32[2, 2] 0 1 3 4; float32[2, 1] 2 5)");
  EXPECT_EQ(OperatorRun("ConcatFromSequence", {parts.value()}, columns).values(), ref::valuesOf(x));
  EXPECT_EQ(sequenceText(OperatorRun("SplitToSequence", {x, intTensor({1, 2})}, columns)),
            "(float32[2, 1] 0 3; float32[2, 2] 1 2 4 5)");
  EXPECT_EQ(sequenceText(OperatorRun("SplitToSequence", {x, intTensor({1, 1})}, columns)), "R1204");
  const OperatorRun rows("SplitToSequence", {x}, attributesOf({{"keepdims", std::int64_t{0}}}));
  EXPECT_EQ(sequenceText(rows), "(float32[3] 0 1 2; float32[3] 3 4 5)");
  EXPECT_EQ(OperatorRun("ConcatFromSequence", {rows.value()},
                        attributesOf({{"axis", std::int64_t{-1}}, {"new_axis", std::int64_t{1}}}))
                .text(),
            "float32[3, 2] 0 3 1 4 2 5");
}

TEST(Optional, HoldsATensorASequenceOrNothing) {
  const OperatorRun some("Optional", {countingFloats({2})});
  ASSERT_TRUE(some.status().isOk()) << some.status().toString();
  EXPECT_EQ(OperatorRun("OptionalHasElement", {some.value()}).text(), "bool[] 1");
  EXPECT_EQ(OperatorRun("OptionalGetElement", {some.value()}).text(), "float32[2] 0 1");
  const OperatorRun none("Optional", std::vector<Tensor>{},
                         attributesOf({{"type", std::string("float32[2,?]")}}));
  EXPECT_EQ(OperatorRun("OptionalHasElement", {none.value()}).text(), "bool[] 0");
  EXPECT_EQ(OperatorRun("OptionalGetElement", {none.value()}).text(), "R1406");
  EXPECT_EQ(OperatorRun("OptionalHasElement", {Tensor()}).text(), "bool[] 0");
  EXPECT_EQ(OperatorRun("OptionalHasElement", {countingFloats({1})}).text(), "bool[] 1");
  EXPECT_EQ(
      OperatorRun("Optional", std::vector<Tensor>{}, attributesOf({{"type", std::string("number")}})).text(),
      "R1206");
  // An optional that holds an empty sequence is not empty.
  const OperatorRun empty("SequenceEmpty", std::vector<Tensor>{});
  const OperatorRun holding("Optional", {empty.value()});
  EXPECT_EQ(OperatorRun("OptionalHasElement", {holding.value()}).text(), "bool[] 1");
}

TEST(Strings, AreRefusedWithAReason) {
  for (const char* name : {"StringConcat", "StringNormalizer", "StringSplit", "RegexFullMatch"}) {
    const Definition* definition = find("", name);
    ASSERT_NE(definition, nullptr) << name;
    TestGraph g;
    std::vector<ir::Value*> inputs(definition->inputs.size(), g.input("x", DType::kString, "[2]"));
    EXPECT_EQ(g.type(name, inputs), "R1203") << name;
    EXPECT_NE(g.status().toString().find("Strings"), std::string::npos);
  }
}

}  // namespace
}  // namespace rota::op
