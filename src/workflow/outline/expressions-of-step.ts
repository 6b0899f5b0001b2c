import { parseCondition } from '../expressions/parse-condition.ts'
import { OPEN, parseTemplate } from '../expressions/parse-template.ts'
import { splitCommand } from '../expressions/split-command.ts'
import { referencesOf } from '../expressions/syntax.ts'
import type { Expression, PathExpression, Template } from '../expressions/syntax.ts'
import type { Step } from '../definition/workflow-type.ts'

// What holds steps of their own, which speak for themselves.
const HOLDERS = new Set([
  'tasks',
  'do',
  'compensate',
  'workflow',
  'when',
  'command',
  'permissions',
  'schema',
  'retry',
])

/** The expressions of a step itself, without those of steps inside it. */
export function expressionsOfStep(step: Step): readonly Expression[] {
  const { when } = step
  return [
    ...(when === undefined ? [] : [parseCondition(when)]),
    ...('command' in step ? expressionsIn(splitCommand(step.command).flat()) : []),
    ...Object.entries(step).flatMap(([key, value]) =>
      HOLDERS.has(key) ? [] : expressionsOf(value),
    ),
  ]
}

/** What a step needs before it can be taken: `steps.scan`, `input.root`, names of items; each once, in the order of the text. */
export function needsOf(step: Step): readonly string[] {
  return [...new Set(expressionsOfStep(step).flatMap(referencesOf).map(nameReference))]
}

/** The expressions in the texts of a value. */
export function expressionsOf(value: unknown): readonly Expression[] {
  if (typeof value === 'string')
    return value.includes(OPEN) ? expressionsIn(parseTemplate(value)) : []
  return typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(expressionsOf)
    : []
}

function expressionsIn(parts: Template): readonly Expression[] {
  return parts.filter((part): part is Expression => typeof part === 'object')
}

function nameReference({ root, keys }: PathExpression): string {
  return ['steps', 'input', 'workflow'].includes(root) && keys.length > 0
    ? `${root}.${String(keys[0])}`
    : root
}
