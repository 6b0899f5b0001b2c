import { calmJson, toEscape } from './touchy.ts'

// What cannot be seen, what turns text around, and halves of characters.
const UNSEEN =
  /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]|\p{Surrogate}/gu

/** JSON that says all it holds and that nobody takes for something else; it is parsed as the same value. */
export function toSafeJson(value: unknown, indent?: number): string {
  return calmJson((JSON.stringify(value, undefined, indent) ?? 'null').replace(UNSEEN, toEscape))
}
