import type { JsonSchema } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { refuseMistakes } from './author-mistakes.ts'
import { applyDefaults, hasDefaults } from './defaults.ts'
import { createExplainer } from './explain.ts'
import { guardCheck } from './guard.ts'
import { toIssues } from './library-issues.ts'
import { requireObjectSchema } from './object-schema.ts'
import { dropGaps, findUnjsonable } from './plain-value.ts'
import { loadValidator, withoutWrappers } from './plain-validator.ts'
import type { PlainValidator } from './plain-validator.ts'
import { hasRiskyPatterns } from './pattern-risk.ts'
import { publishSchema } from './publish.ts'
import { checkRefs, indexRefs } from './refs.ts'
import type { Refs } from './refs.ts'
import type { Checked, Schema } from './schema.ts'
import { findUnknownKeys } from './unknown-keys.ts'
import { upgradeKeywords } from './upgrade-keywords.ts'

/** Makes plain JSON Schema ready for use: draft 2020-12, or an older one when `$schema` says so. Throws CONFIG for schemas that cannot work. */
export function compilePlain(source: JsonSchema, direction: 'input' | 'output'): Schema {
  refuseMistakes(source)
  const schema = upgradeKeywords(source)
  const refs = indexRefs(schema)
  checkRefs(schema, refs)
  if (direction === 'input') requireObjectSchema(schema, refs)
  let published: JsonSchema | undefined
  let ready: Ready | undefined
  return {
    get json() {
      return (published ??= publishSchema(schema, direction))
    },
    verbatim: source,
    check: (value) =>
      guardCheck(() => {
        if (ready) return checkInTime(ready, value)
        return load(schema).then(({ validator, limit }) =>
          checkInTime(
            (ready = { schema, refs, validator, limit, fillsDefaults: hasDefaults(schema) }),
            value,
          ),
        )
      }, value),
  }
}

type Limit = <T extends object>(run: () => T) => T | undefined
type Ready = {
  readonly schema: JsonSchema
  readonly refs: Refs
  readonly fillsDefaults: boolean
  readonly validator: PlainValidator
  readonly limit: Limit | undefined
}

function checkInTime(ready: Ready, value: unknown): Checked {
  if (!ready.limit) return checkPlain(ready, value)
  return (
    ready.limit(() => checkPlain(ready, value)) ?? {
      ok: false,
      issues: [
        {
          path: [],
          kind: 'invalid',
          message: 'takes too long to check against the patterns of the schema; give shorter texts',
        },
      ],
    }
  )
}

function checkPlain(ready: Ready, value: unknown): Checked {
  const { schema, refs, validator } = ready
  const explainer = createExplainer(refs, validator.formats)
  if (value === undefined)
    return {
      ok: false,
      issues: toIssues(explainer, schema, value, [], [{ path: [], message: 'is required' }]),
    }
  const { issues, hasGaps } = findUnjsonable(value)
  if (issues.length > 0) return { ok: false, issues }
  const given = hasGaps ? dropGaps(value) : value
  const filled = ready.fillsDefaults ? applyDefaults(explainer, schema, given) : given
  const unknown = findUnknownKeys(explainer, schema, filled)
  const units = validator.validate(filled)
  if (units.length === 0)
    return unknown.length === 0 ? { ok: true, value: filled } : { ok: false, issues: unknown }
  return { ok: false, issues: toIssues(explainer, schema, filled, unknown, withoutWrappers(units)) }
}

async function load(schema: JsonSchema): Promise<Pick<Ready, 'validator' | 'limit'>> {
  try {
    const limit = hasRiskyPatterns(schema) ? (await import('./time-limit.ts')).limitTime : undefined
    return { validator: await loadValidator(schema), limit }
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `the schema cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}
