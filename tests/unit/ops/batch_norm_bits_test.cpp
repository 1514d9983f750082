/// BatchNormOp gives the same bits in every run, on any number of threads, and if results overwrite their inputs.
#include "unit/ops/batch_norm_pass.h"

namespace convoy {
namespace {

class BatchNormBits : public OpTest {};

TEST_P(BatchNormBits, GradientsMayBeWrittenOverTheIncomingOne) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape::images(3, 5, 7, 3), Shape::images(4, 16, 16, 32)}) {
      const BatchNormValues values(shape, type);
      for (const bool relu : {false, true}) {
        BatchNormPass plain(*backend_, {shape, relu, false}, values), in_place(*backend_, {shape, relu, false}, values);
        plain.backward();
        in_place.backward_to(in_place.dy, nullptr);
        EXPECT_EQ(bits(plain.dx), bits(in_place.dy));
        EXPECT_EQ(bits(plain.dgamma), bits(in_place.dgamma));

        const BatchNormSpec joining{shape, relu, true};
        BatchNormPass joined(*backend_, joining, values), dx_in_place(*backend_, joining, values),
            dresidual_in_place(*backend_, joining, values);
        joined.backward();
        dx_in_place.backward_to(dx_in_place.dy, dx_in_place.dresidual);
        EXPECT_EQ(bits(joined.dx), bits(dx_in_place.dy));
        EXPECT_EQ(bits(joined.dresidual), bits(dx_in_place.dresidual));
        EXPECT_EQ(bits(joined.dgamma), bits(dx_in_place.dgamma));
        dresidual_in_place.backward_to(dresidual_in_place.dx, dresidual_in_place.dy);
        EXPECT_EQ(bits(joined.dx), bits(dresidual_in_place.dx));
        EXPECT_EQ(bits(joined.dresidual), bits(dresidual_in_place.dy));
        EXPECT_EQ(bits(joined.dgamma), bits(dresidual_in_place.dgamma));
      }
    }
  }
}

// dy in two parts gives the bits of their sum, whatever memory the results are written to.
TEST_P(BatchNormBits, TakesTheGradientInTwoParts) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape::images(3, 5, 7, 3), Shape::images(2, 7, 7, 36), Shape::images(4, 16, 16, 32)}) {
      BatchNormValues values(shape, type), sum(shape, type);
      const Array part = rounded(type, random_array(shape.count(), 6));
      sum.dy = sum_of_parts(type, values.dy, part);
      for (const bool relu : {false, true}) {
        SCOPED_TRACE(fmt::format("{}, relu {}, {}", to_string(shape), relu, to_string(type)));
        const BatchNormSpec spec{shape, relu, true};
        BatchNormPass whole(*backend_, spec, sum), apart(*backend_, spec, values), over_dy(*backend_, spec, values),
            over_part(*backend_, spec, values);
        whole.backward();
        const auto expect_the_same = [&](const BatchNormPass& parts, const DeviceArray& dx,
                                         const DeviceArray& dresidual) {
          EXPECT_EQ(bits(whole.dx), bits(dx));
          EXPECT_EQ(bits(whole.dresidual), bits(dresidual));
          EXPECT_EQ(bits(whole.dgamma), bits(parts.dgamma));
          EXPECT_EQ(bits(whole.dbeta), bits(parts.dbeta));
        };
        const DeviceArray first(*backend_, part, type), second(*backend_, part, type), third(*backend_, part, type);
        apart.backward_to(apart.dx, apart.dresidual, first);
        expect_the_same(apart, apart.dx, apart.dresidual);
        over_dy.backward_to(second, over_dy.dy, second);
        expect_the_same(over_dy, second, over_dy.dy);
        over_part.backward_to(over_part.dy, third, third);
        expect_the_same(over_part, over_part.dy, third);
      }
    }
  }
}

TEST_P(BatchNormBits, TakesTheGradientOfInferenceInTwoParts) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape::images(3, 5, 7, 3), Shape::images(4, 16, 16, 32)}) {
      const BatchNormValues values(shape, type);
      const Array part = rounded(type, random_array(shape.count(), 6));
      const DeviceArray y(*backend_, values.residual, type), gamma(*backend_, values.gamma),
          running_var(*backend_, random_array(shape.c, 8, 2, 1));
      const auto op = backend_->create<ops::BatchNormOp>({.x = shape, .relu = true, .residual = true, .type = type});
      const DeviceArray whole(*backend_, sum_of_parts(type, values.dy, part), type), dx(*backend_, shape.count(), type),
          dresidual(*backend_, shape.count(), type);
      const auto run = [&](const void* dy, const void* addend, void* to_dx, void* to_dresidual) {
        op->infer_backward({.branches = {{.gamma = gamma, .running_var = running_var, .dx = to_dx}},
                            .dy = dy,
                            .dy_addend = addend,
                            .y = y,
                            .dresidual = to_dresidual});
      };
      run(whole, nullptr, dx, dresidual);
      const DeviceArray first(*backend_, values.dy, type), second(*backend_, part, type);
      run(first, second, second, first);
      EXPECT_EQ(bits(dx), bits(second));
      EXPECT_EQ(bits(dresidual), bits(first));
    }
  }
}

// The runs are of one operation, with others of the backend in between, and of a new operation.
TEST_P(BatchNormBits, GivesTheSameBitsInEveryRun) {
  for (const DataType type : types()) {
    for (const Shape& shape :
         {Shape::images(8, 32, 32, 16), Shape::images(5, 11, 13, 37), Shape::images(2, 14, 14, 256)}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const BatchNormValues values(shape, type);
      const BatchNormSpec spec{shape, true, true};
      BatchNormPass first(*backend_, spec, values);
      first.backward();
      const auto results = first.result_bits();
      const auto backend = another_backend();
      BatchNormPass second(*backend, spec, values);
      second.backward();
      EXPECT_EQ(results, second.result_bits());
      BatchNormPass other(*backend, {Shape::images(1, 4, 4, 2048)}, BatchNormValues(Shape::images(1, 4, 4, 2048)));
      for (int run = 0; run < 2; ++run) {
        second.forward();
        second.forward();
        second.backward();
        EXPECT_EQ(results, second.result_bits()) << run;
      }
    }
  }
}

TEST(BatchNormOnTheCpu, GivesTheSameBitsForEveryNumberOfThreads) {
  for (const DataType type : {DataType::kFloat32, DataType::kBfloat16}) {
    for (const Shape& shape :
         {Shape::images(8, 32, 32, 16), Shape::images(5, 11, 13, 37), Shape::images(2, 14, 14, 256)}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const BatchNormValues values(shape, type);
      std::vector<std::vector<std::uint32_t>> first;
      for (const std::int64_t threads : {1, 2, 3}) {
        const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
        BatchNormPass pass(*backend, {shape, true, true}, values);
        pass.backward();
        if (first.empty()) first = pass.result_bits();
        EXPECT_EQ(first, pass.result_bits()) << threads << " threads";
      }
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(BatchNormBits);

}  // namespace
}  // namespace convoy
