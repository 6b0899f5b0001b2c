import { ToolError } from '../../../../contract/tool-error.ts'

/** An opaque cursor that goes on at `offset` of the call that `callKey` names. */
export function writeCursor(offset: number, callKey: string): string {
  return Buffer.from(JSON.stringify([offset, hash(callKey)])).toString('base64url')
}

/** The offset of a cursor; throws INVALID_INPUT for garbage and for the cursor of another call. */
export function readCursor(cursor: string, callKey: string): number {
  const offset = decode(cursor)
  if (offset === undefined)
    throw new ToolError('INVALID_INPUT', 'The cursor cannot be read', {
      field: 'cursor',
      suggestion:
        'Use meta.next_cursor of the previous answer unchanged, or leave the cursor out to start again',
    })
  if (writeCursor(offset, callKey) === cursor) return offset
  throw new ToolError('INVALID_INPUT', 'The cursor belongs to another call', {
    field: 'cursor',
    suggestion:
      'Repeat the input and the filters of the call that gave the cursor, or leave the cursor out to start again',
  })
}

function decode(cursor: string): number | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (!Array.isArray(parsed) || parsed.length !== 2 || typeof parsed[1] !== 'string')
      return undefined
    return Number.isSafeInteger(parsed[0]) && parsed[0] > 0 ? (parsed[0] as number) : undefined
  } catch {
    return undefined
  }
}

// FNV-1a, 32 bits: it has to notice a mix-up, not an attack, and must not load node:crypto.
function hash(text: string): string {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++)
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return (value >>> 0).toString(36)
}
