/** One change of a text: what stands from `start` to `end` becomes `text`. */
export type TextEdit = { readonly start: number; readonly end: number; readonly text: string }

/** The text with all edits done; they do not overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  // From the back, so that offsets stay true; of two at one place the later one was meant to stand behind.
  return edits
    .map((edit, index) => ({ ...edit, index }))
    .sort((left, right) => right.start - left.start || right.index - left.index)
    .reduce(
      (result, edit) => result.slice(0, edit.start) + edit.text + result.slice(edit.end),
      text,
    )
}

/** The white space with which the line of an offset begins. */
export function lineIndent(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset)))![0]
}

/** True when nothing but white space stands before the offset on its line. */
export function startsLine(text: string, offset: number): boolean {
  return text.slice(lineStart(text, offset), offset).trim() === ''
}

/** Where the line of an offset begins. */
export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

/** Where the one line break, or the spaces, before an offset begin. */
export function gapBefore(text: string, offset: number): number {
  return offset - /(?:\r?\n)?[ \t]*$/.exec(text.slice(0, offset))![0].length
}
