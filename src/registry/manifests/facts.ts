import { isObject } from '../../contract/json.ts'
import type { Annotations, Permissions } from '../../contract/manifest.ts'
import type { ReadProblem } from '../../contract/documents/reading.ts'
import { refuse } from '../../contract/documents/reading.ts'
import type { ForeignFacts } from '../found.ts'

type Data = { readonly [key: string]: unknown }

/** What a manifest says besides name, schema and program. What has the wrong type is not taken. */
export function readFacts(data: Data): ForeignFacts {
  const timeout = own(data, 'timeout')
  const permissions = own(data, 'permissions')
  const annotations = own(data, 'annotations')
  return {
    ...text(data, 'title'),
    ...text(data, 'summary'),
    ...text(data, 'description'),
    ...(Array.isArray(own(data, 'tags')) && { tags: textsOf(own(data, 'tags')) }),
    ...(typeof timeout === 'number' && timeout > 0 && Number.isFinite(timeout) && { timeout }),
    ...(permissions !== undefined && { permissions: readPermissions(data) }),
    ...(isObject(annotations) && { annotations: readAnnotations(annotations) }),
    ...(own(data, 'dryRun') === true && { dryRun: true }),
    ...(own(data, 'streaming') === true && { streaming: true }),
    ...(own(data, 'session') === true && { session: true }),
  }
}

/** What a manifest says about what its tool may do; an empty key asks for nothing. The resources and secrets that stand beside its permissions belong to them. */
export function readPermissions(data: Data): Permissions {
  const permissions = own(data, 'permissions')
  const beside = ['resources', 'secrets'].filter(
    (key) => own(data, key) !== undefined && own(data, key) !== null,
  )
  return {
    ...(isObject(permissions) && permissions),
    ...Object.fromEntries(beside.map((key) => [key, data[key]])),
  }
}

/** Why the permissions of a manifest cannot be taken at all. What they ask for is looked at when the tool is run. */
export function findPermissionsProblem(data: Data): { readonly problem: ReadProblem } | undefined {
  const permissions = own(data, 'permissions') ?? undefined
  return permissions === undefined || isObject(permissions)
    ? undefined
    : refuse(
        'manifest',
        "has 'permissions' that are not a mapping",
        'Write permissions: {filesystem: ..., network: ...}; {} asks for nothing but the workspace',
      )
}

/** A key that the data itself has. */
export function own(data: Data, key: string): unknown {
  return Object.hasOwn(data, key) ? data[key] : undefined
}

/** The texts of a list. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value)
    ? value.filter((item): item is string => typeof item === 'string')
    : []
}

/** The texts of an object, by name. */
export function textMapOf(value: unknown): { [name: string]: string } | undefined {
  if (!isObject(value)) return undefined
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        (entry): entry is [string, string | number] =>
          typeof entry[1] === 'string' || typeof entry[1] === 'number',
      )
      .map(([name, item]) => [name, String(item)]),
  )
}

/** What is wrong with a name; it may be any text of one line. */
export function findNameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return 'has no name'
  if (name.length > 256) return 'has a name of more than 256 characters'
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(name)
    ? 'has control characters in its name'
    : undefined
}

function text(data: Data, key: 'title' | 'summary' | 'description'): { [key: string]: string } {
  const value = own(data, key)
  return typeof value === 'string' && value.trim() !== '' ? { [key]: value } : {}
}

function readAnnotations(data: Data): Annotations {
  return Object.fromEntries(
    ['readOnly', 'destructive', 'idempotent', 'openWorld']
      .filter((key) => typeof own(data, key) === 'boolean')
      .map((key) => [key, data[key]]),
  )
}
