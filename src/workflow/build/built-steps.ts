import type { BuiltStep } from './builder-type.ts'
import type { Frame, WrittenStep } from './frames.ts'
import { makeRef } from './ref.ts'

const written = new WeakMap<object, WrittenStep>()

/** What later steps see of a step. */
export function makeBuiltStep(step: WrittenStep, owner: Frame): BuiltStep {
  const path = `steps.${step.name}`
  const built: BuiltStep = {
    stepName: step.name,
    result: makeRef(`${path}.result`, owner),
    status: makeRef(`${path}.status`, owner),
    error: makeRef(`${path}.error`, owner),
    runId: makeRef(`${path}.run_id`, owner),
  }
  written.set(built, step)
  return built
}

/** The step that a builder gave, as it is written. */
export function writtenStep(built: unknown): WrittenStep | undefined {
  return typeof built === 'object' && built !== null ? written.get(built) : undefined
}

/** True for what a builder gives for a step. */
export function isBuiltStep(value: unknown): value is BuiltStep {
  return writtenStep(value) !== undefined
}
