const TOP_LEFT = '╭┌┏╔+'
const TOP_RIGHT = '╮┐┓╗+'
const BOTTOM_LEFT = '╰└┗╚'
const LINES = '─━═-'
const SIDES = /^( *)[│┃║|](.*)[│┃║|]$/
const FRAME = /[╭┌┏╔╰└┗╚│┃║]|^ *\+-/

/** Frames around sections become plain sections: the title a heading, the sides blanks of the same width. */
export function openBoxes(lines: readonly string[]): string[] {
  if (!lines.some((line) => FRAME.test(line))) return [...lines]
  let inside = false
  return lines.map((line) => {
    const text = line.trimStart()
    if (text !== '' && BOTTOM_LEFT.includes(text[0]!)) {
      inside = false
      return ''
    }
    const title = titleOf(text)
    if (title !== undefined) {
      inside = true
      return title === '' ? '' : `${title}:`
    }
    const framed = inside ? SIDES.exec(line) : null
    return framed ? `${framed[1]!} ${framed[2]!}`.trimEnd() : line
  })
}

/** What stands in the upper edge of a frame; undefined for any other line. */
function titleOf(text: string): string | undefined {
  if (
    text.length < 4 ||
    !TOP_LEFT.includes(text[0]!) ||
    !LINES.includes(text[1]!) ||
    !TOP_RIGHT.includes(text[text.length - 1]!)
  )
    return undefined
  let start = 1
  while (start < text.length && LINES.includes(text[start]!)) start++
  let end = text.length - 1
  while (end > start && LINES.includes(text[end - 1]!)) end--
  return text.slice(start, end).trim()
}
