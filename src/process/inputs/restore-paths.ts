import type { StagedOutput } from './place-outputs.ts'

const DEEPEST = 64

/** The same value, with the places that outputs are meant for where it names the places that they were made at. */
export function restorePaths<Value>(value: Value, outputs: readonly StagedOutput[]): Value {
  return outputs.length === 0 ? value : (restore(value, outputs, 0) as Value)
}

function restore(value: unknown, outputs: readonly StagedOutput[], depth: number): unknown {
  if (typeof value === 'string') return restoreText(value, outputs)
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value
  if (Array.isArray(value)) return value.map((item: unknown) => restore(item, outputs, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, restore(item, outputs, depth + 1)]),
  )
}

function restoreText(text: string, outputs: readonly StagedOutput[]): string {
  const bare = text.startsWith('file://') ? text.slice('file://'.length) : text
  const output = outputs.find(({ staged }) => bare === staged || bare.startsWith(`${staged}/`))
  return output ? text.replace(output.staged, () => output.target) : text
}
