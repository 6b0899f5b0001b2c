import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { decodeValue, needsDecoding } from './decode.ts'
import { createExplainer } from './explain.ts'
import { guardCheck } from './guard.ts'
import { knowsKeys } from './knows-keys.ts'
import { toIssues } from './library-issues.ts'
import type { LibraryIssue } from './library-issues.ts'
import { requireObjectSchema } from './object-schema.ts'
import { publishSchema } from './publish.ts'
import { indexRefs } from './refs.ts'
import type { Checked, Issue, Schema, StandardSchema } from './schema.ts'
import { tidySchema } from './tidy.ts'
import { findUnknownKeys } from './unknown-keys.ts'
import { upgradeKeywords } from './upgrade-keywords.ts'
import { alignPath, valueAt } from './value-path.ts'
import { isRuleOfAuthor, libraryOptionsOf } from './vendors.ts'
import { sayFormat } from './words.ts'

const NONE: readonly Issue[] = []

/** Makes a schema of a library ready for use. The library decides; our part is strictness about keys, decoding of JSON and the words. */
export function compileStandard(source: StandardSchema, direction: 'input' | 'output'): Schema {
  // What a check is given is the input of the library's schema in both directions; only what is published differs.
  const accepted = readJsonSchema(source, 'input')
  const refs = indexRefs(accepted)
  if (direction === 'input') requireObjectSchema(accepted, refs)
  const decodes = needsDecoding(accepted)
  const knows = knowsKeys(accepted)
  const check = (value: unknown): Checked | Promise<Checked> => {
    // Before the library, which may change the value.
    const unknown = knows(value) ? NONE : findUnknownKeys(createExplainer(refs), accepted, value)
    const result = source['~standard'].validate(
      decodes ? decodeValue(createExplainer(refs), accepted, value) : value,
    )
    return isPromise(result) ? finishLater(result, value, unknown) : finish(result, value, unknown)
  }
  const finishLater = async (
    result: PromiseLike<StandardSchemaV1.Result<unknown>>,
    value: unknown,
    unknown: readonly Issue[],
  ): Promise<Checked> => finish(await result, value, unknown)
  const finish = (
    result: StandardSchemaV1.Result<unknown>,
    value: unknown,
    unknown: readonly Issue[],
  ): Checked => {
    if (!result.issues)
      return unknown.length === 0
        ? { ok: true, value: result.value }
        : { ok: false, issues: unknown }
    return {
      ok: false,
      issues: toIssues(
        createExplainer(refs),
        accepted,
        value,
        unknown,
        result.issues.flatMap((issue) => readIssue(issue, value, [])),
      ),
    }
  }
  let published: JsonSchema | undefined
  return {
    get json() {
      return (published ??= publishSchema(
        direction === 'input' ? accepted : readJsonSchema(source, 'output'),
        direction,
      ))
    },
    check: (value) => guardCheck(check, value),
  }
}

function readJsonSchema(source: StandardSchema, direction: 'input' | 'output'): JsonSchema {
  const { vendor, jsonSchema } = source['~standard']
  const libraryOptions = libraryOptionsOf(vendor)
  let problem: unknown
  for (const target of ['draft-2020-12', 'draft-07']) {
    try {
      const json = jsonSchema[direction]({ target, ...(libraryOptions && { libraryOptions }) })
      return tidySchema(upgradeKeywords(json))
    } catch (error) {
      problem ??= error
    }
  }
  throw new ToolError(
    'CONFIG',
    `the ${vendor} schema cannot be written as JSON Schema: ${problem instanceof Error ? problem.message : String(problem)}`,
    { suggestion: 'Use types that JSON can carry', cause: problem },
  )
}

type VendorIssue = StandardSchemaV1.Issue & {
  readonly code?: unknown
  readonly format?: unknown
  readonly errors?: unknown
  readonly keys?: unknown
  readonly problem?: unknown
}

function readIssue(
  issue: VendorIssue,
  value: unknown,
  above: readonly PropertyKey[],
): LibraryIssue[] {
  const keys = [
    ...above,
    ...(issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part)),
  ]
  const path = alignPath(keys, value)
  if (issue.code === 'unrecognized_keys' && Array.isArray(issue.keys))
    return issue.keys.map((key) => ({
      path: [...path, String(key)],
      message: 'is not a known key',
    }))
  if (issue.code === 'invalid_union' && Array.isArray(issue.errors) && issue.errors.length > 0) {
    const branches = issue.errors as (readonly VendorIssue[])[]
    // Only rules of authors are asked from the branches: the rest is explained at the place of the union.
    const own = branches.filter((branch) => branch.length > 0 && branch.every(isRuleOfAuthor))
    if (own.length > 0) return own[0]!.flatMap((each) => readIssue(each, value, keys))
  }
  if (
    issue.code === 'invalid_format' &&
    typeof issue.format === 'string' &&
    issue.format !== 'regex'
  )
    return [{ path, message: sayFormat(issue.format, valueAt(value, path)) }]
  return [
    {
      path,
      message: typeof issue.problem === 'string' ? issue.problem : issue.message,
      isOwn: isRuleOfAuthor(issue),
    },
  ]
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Promise<T>).then === 'function'
}
