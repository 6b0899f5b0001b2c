import { isObject } from '../json.ts'
import type { Artifact, OutcomeMeta } from '../outcome.ts'
import type { ReadContext } from './read-error.ts'

/** The facts about a call that a foreign document gives; what is missing or malformed is left out. */
export function readMeta(meta: unknown, context: ReadContext): OutcomeMeta {
  const given = isObject(meta) ? meta : {}
  const { version, duration_ms: duration, warnings, next_cursor, caller, run_id, artifacts } = given
  const listed = readArtifacts(artifacts)
  return {
    tool: typeof given.tool === 'string' ? given.tool : context.tool,
    ...(typeof version === 'string' && { version }),
    duration_ms: typeof duration === 'number' && duration >= 0 ? duration : 0,
    ...(given.dry_run === true && { dry_run: true as const }),
    ...(isTexts(warnings) && { warnings }),
    ...(given.truncated === true && { truncated: true as const }),
    ...(typeof next_cursor === 'string' && { next_cursor }),
    ...(typeof caller === 'string' && { caller }),
    ...(typeof run_id === 'string' && { run_id }),
    ...(listed.length > 0 && { artifacts: listed }),
  }
}

/** The artifacts of a list, in our form or in the run protocol's `{path, sha256}`; entries without an address are left out. */
export function readArtifacts(list: unknown): readonly Artifact[] {
  if (!Array.isArray(list)) return []
  return list.filter(isObject).flatMap(({ name, uri, path, sha256 }) => {
    const address = typeof uri === 'string' ? uri : path
    if (typeof address !== 'string') return []
    return [
      {
        name: typeof name === 'string' ? name : lastPart(address),
        uri: address,
        ...(typeof sha256 === 'string' && { sha256 }),
      },
    ]
  })
}

function lastPart(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== '') ?? path
}

function isTexts(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === 'string')
  )
}
