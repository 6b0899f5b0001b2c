/** An id of eight characters, unique enough to pair a question with its answer. */
export function randomId(): string {
  return hexadecimal(Math.floor(Math.random() * 0x1_0000_0000), 8)
}

const BATCH = 0x1_0000
let prefix = ''
// Begun anywhere, so that two processes differ in all sixteen characters.
let next = Math.floor(Math.random() * BATCH)

/** An id of sixteen characters for what is kept. Those of one process follow each other: to draw each of them would cost a call as much as its check of the input. */
export function longId(): string {
  if (prefix === '' || next === BATCH)
    prefix = hexadecimal(Math.floor(Math.random() * 0x1_0000_0000_0000), 12)
  if (next === BATCH) next = 0
  return prefix + hexadecimal(next++, 4)
}

function hexadecimal(number: number, length: number): string {
  return number.toString(16).padStart(length, '0')
}
