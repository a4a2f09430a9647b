// SPDX-License-Identifier: Apache-2.0
//! Pipelines as lists of passes. `skript-opt --skript-to-linalg` and the compiler run the same pipelines.

pub(crate) mod gpu_stages;
mod lowerings;
pub(crate) mod stages;
mod stop;

pub(crate) use lowerings::LOWERINGS;
pub use lowerings::{ALL, Pipeline};
pub use stop::Stop;

use skript_dialect::pass::register_pipeline;

/// Registers the pipelines with MLIR.
pub(crate) fn register() {
    for pipeline in ALL {
        register_pipeline(pipeline.flag, pipeline.summary, &pipeline.text());
    }
}

#[cfg(test)]
mod tests {
    use super::stages::{Stage, after_lowering, all, before};
    use super::*;
    use crate::fast_math::FastMath;
    use crate::ir::step::Step;
    use crate::target::{GPUS, Integers, TargetDescription};

    fn targets() -> Vec<TargetDescription> {
        let mut targets = vec![TargetDescription::host()];
        targets
            .extend(GPUS.iter().map(|gpu| TargetDescription { gpu: Some(gpu), ..TargetDescription::host() }));
        let exact = TargetDescription {
            fast_math: FastMath::None,
            integers: Integers::Always,
            ..TargetDescription::host()
        };
        targets.push(exact);
        targets
    }

    fn passes(steps: &[Step]) -> Vec<(&'static str, Vec<&'static str>)> {
        let passes = steps.iter().map(|step| match step {
            Step::Pass { flag, options } => vec![(*flag, options.iter().map(|(name, _)| *name).collect())],
            Step::Nested { steps, .. } => passes(steps),
        });
        passes.flatten().collect()
    }

    #[test]
    fn passes_have_the_options_that_steps_set() {
        for target in targets() {
            let stages = ALL.iter().flat_map(|lowering| all(lowering, &["nn.conv".to_owned()], &target));
            for (flag, options) in stages.flat_map(|stage| passes(&stage.steps)) {
                let Some(pass) = crate::all::ALL.iter().find(|pass| pass.flag == flag) else { continue };
                for name in options {
                    assert!(pass.options.iter().any(|option| option.name == name), "{flag}{{{name}}}");
                }
            }
        }
    }

    #[test]
    fn compilations_stop_after_a_stage() {
        let names = |stages: Vec<Stage>| stages.iter().map(|stage| stage.name).collect::<Vec<_>>();
        let target = TargetDescription { gpu: None, ..TargetDescription::host() };
        let stages = || after_lowering(&target);
        assert_eq!(names(before(stages(), Stop::Skript)), [""; 0]);
        assert_eq!(names(before(stages(), Stop::Buffers)), ["bufferize"]);
        assert_eq!(names(before(stages(), Stop::Scheduled)), ["bufferize", "schedule", "prepare"]);
        assert_eq!(names(before(stages(), Stop::LlvmDialect)), names(stages()));
        for target in targets() {
            for stop in [Stop::Lowered, Stop::Buffers, Stop::Scheduled] {
                let stages = all(Pipeline::named("skript-to-linalg").unwrap(), &[], &target);
                assert_eq!(stages.iter().filter(|stage| stage.stop == Some(stop)).count(), 1, "{stop:?}");
            }
        }
    }
}
