import { open } from 'node:fs/promises'

const LOOKED_AT = 8192
const LONGEST_LINE = 100_000

/**
 * The lines of a text file with their numbers, read piece by piece and cut where a line has no end;
 * a binary file has none.
 */
export async function* textLines(file) {
  const handle = await open(file)
  try {
    if (await isBinary(handle)) return
    let rest = ''
    let line = 0
    for await (const chunk of handle.createReadStream({
      encoding: 'utf8',
      start: 0,
      autoClose: false,
    })) {
      const lines = `${rest}${chunk}`.split('\n')
      rest = (lines.pop() ?? '').slice(0, LONGEST_LINE)
      for (const text of lines) yield { line: ++line, text: text.replace(/\r$/, '') }
    }
    if (rest !== '') yield { line: line + 1, text: rest }
  } finally {
    await handle.close()
  }
}

/** True when a file is not text: there is a zero byte near its beginning. */
export async function isBinaryFile(file) {
  const handle = await open(file)
  try {
    return await isBinary(handle)
  } finally {
    await handle.close()
  }
}

async function isBinary(handle) {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(LOOKED_AT), 0, LOOKED_AT, 0)
  return buffer.subarray(0, bytesRead).includes(0)
}
