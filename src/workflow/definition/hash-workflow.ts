import { isObject } from '../../contract/json.ts'
import type { Workflow } from './workflow-type.ts'

/** By this a definition is known again: SHA-256 over its JSON with sorted keys, in hexadecimal digits. */
export async function hashWorkflow(definition: Workflow): Promise<string> {
  const { createHash } = await import('node:crypto')
  return createHash('sha256').update(JSON.stringify(definition, sorted)).digest('hex')
}

function sorted(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value
  // A prototype would swallow the key `__proto__`.
  const copy = Object.create(null) as { [key: string]: unknown }
  for (const key of Object.keys(value).sort()) copy[key] = value[key]
  return copy
}
