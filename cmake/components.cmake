# SPDX-License-Identifier: Apache-2.0
# The components of src/ in the order of the one-way dependencies. This is the only place where the layering stands: the
# build links tests by it and tools/lint.py checks includes by it.

enable_testing()

# --- The lean runtime: librota_runtime.
rota_component(core LIBRARY runtime)
rota_component(ref DEPENDS core LIBRARY runtime UNITY 4)
rota_component(runtime DEPENDS ref LIBRARY runtime TESTS shared)
# Engine files: all of src/engine but the writing and inspecting side, which is below.
rota_component(engine DEPENDS runtime LIBRARY runtime TESTS shared EXCEPT "^(writer|inspect|manifest)")
rota_component(backend_cpu_run FOLDER backend/cpu/run DEPENDS runtime LIBRARY runtime TESTS shared LABEL cpu
               SOURCES_EXCEPT "^simd/")
rota_vector_kernels(simd FOLDER backend/cpu/run/simd LIBRARY runtime FOR backend_cpu_run)
rota_component(backend_null_run FOLDER backend/null/run DEPENDS runtime LIBRARY runtime TESTS shared)

# --- The compile side: librota.
rota_component(knob DEPENDS core LIBRARY compile)
rota_component(ir DEPENDS knob LIBRARY compile)
rota_component(op DEPENDS ir ref LIBRARY compile UNITY 16)
rota_component(import DEPENDS op LIBRARY compile)
rota_component(pass DEPENDS op LIBRARY compile)
rota_component(quant DEPENDS op pass LIBRARY compile)
rota_component(codegen DEPENDS op LIBRARY compile)
rota_component(tactic DEPENDS pass quant codegen runtime LIBRARY compile)
rota_component(engine_write FOLDER engine DEPENDS engine op LIBRARY compile TESTS shared ONLY "^(writer|inspect|manifest)")
rota_component(plan DEPENDS tactic engine_write LIBRARY compile TESTS shared)
rota_component(backend_cpu_compile FOLDER backend/cpu/compile DEPENDS tactic backend_cpu_run LIBRARY compile TESTS shared
               LABEL cpu)
rota_component(backend_null_compile FOLDER backend/null/compile DEPENDS tactic backend_null_run LIBRARY compile TESTS shared)
rota_component(precision DEPENDS plan LIBRARY compile TESTS shared)
rota_component(tune DEPENDS plan LIBRARY compile TESTS shared)
rota_component(api DEPENDS precision tune import LIBRARY compile TESTS shared)
rota_component(capi DEPENDS api LIBRARY compile TESTS shared)

# --- The program.
rota_component(data DEPENDS import runtime LIBRARY compile TESTS shared)
rota_component(cli DEPENDS api data TESTS shared LABEL cpu UNITY 6 EXCEPT "^main\\.cpp$")

# --- oneDNN, a module that the runtime opens when a plan names it.
rota_component(onednn FOLDER backend/cpu/onednn DEPENDS backend_cpu_run TESTS shared LABEL cpu)
