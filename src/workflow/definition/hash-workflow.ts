import { createHash } from 'node:crypto'
import { isObject } from '../../contract/json.ts'
import type { Workflow } from './workflow-type.ts'

/** The SHA-256 of a workflow in hexadecimal: the same for the same definition, in whatever order its keys are written. */
export function hashWorkflow(workflow: Workflow): string {
  return createHash('sha256').update(canonical(workflow)).digest('hex')
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value ?? null)
  const keys = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`
}
