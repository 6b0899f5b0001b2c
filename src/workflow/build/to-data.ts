import { ToolError } from '../../contract/tool-error.ts'
import { expressionOf } from './ref.ts'
import { isBuiltStep } from './built-steps.ts'

const DEEPEST = 50

/** A value with references as data with `${{ ... }}` in it. Throws CONFIG, with the place, for what is no JSON. */
export function toData(value: unknown, where: string, depth = 0): unknown {
  const expression = expressionOf(value)
  if (expression !== undefined) return `\${{ ${expression} }}`
  if (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  )
    return value
  if (isBuiltStep(value))
    throw new ToolError('CONFIG', `${where} is the step '${value.stepName}' itself`, {
      suggestion: `Give its result: ${value.stepName}.result`,
    })
  if (depth >= DEEPEST)
    throw new ToolError('CONFIG', `${where} has more than ${DEEPEST} levels, or contains itself`)
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value))
    return value.map((item, index) => toData(item ?? null, `${where}[${index}]`, depth + 1))
  if (typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, inner]) => inner !== undefined)
        .map(([key, inner]) => [key, toData(inner, `${where}.${key}`, depth + 1)]),
    )
  throw new ToolError(
    'CONFIG',
    `${where} is ${typeof value === 'number' ? String(value) : `a ${typeof value}`}, which is no JSON`,
    { suggestion: 'A workflow is data: give texts, numbers, lists, objects and references' },
  )
}
