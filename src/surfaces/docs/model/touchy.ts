// Claude Code reads skills and commands as plain text before it shows them to a model, code and fences included: it runs what stands in backticks
// behind an exclamation mark, and fills `$1`, `$ARGUMENTS` and `${…}`. A document must mean what it says, so these never stand there by accident.
const TOUCHY = /!(?=`)|\$(?=ARGUMENTS|\d|\{)/g

/** A command line in which nothing is taken for a placeholder. Such characters stand in single quotes, where a closed and opened quote means nothing. */
export function calmCommand(line: string): string {
  return line.replace(TOUCHY, "$&''")
}

/** The same for words that nobody pastes. */
export function calmWords(text: string): string {
  return text.replace(TOUCHY, '$& ')
}

/** The same for Markdown text, which shows an entity as its character. */
export function calmMarkdown(text: string): string {
  return text.replace(TOUCHY, (character) => `&#${character.charCodeAt(0)};`)
}

/** The same within the strings of JSON. */
export function calmJson(json: string): string {
  return json.replace(TOUCHY, toEscape)
}

/** True where a text has to be changed to be calm. */
export function isTouchy(text: string): boolean {
  return text.search(TOUCHY) >= 0
}

/** `\u0021`. */
export function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
