/** YAML, JSON and TypeScript as coloured tokens. */

/** A piece of a text, and what it is in its language. */
type CodeToken = { readonly text: string; readonly kind?: string }

export type CodeLanguage = 'yaml' | 'json' | 'typescript' | 'text'

const MAX_CHARS = 100_000
const QUOTED_PATTERN = String.raw`"(?:[^"\\\n]|\\.)*"`
const NUMBER_PATTERN = String.raw`(?<number>(?<![\w.-])-?\d[\d.]*(?:[eE][+-]?\d+)?(?![\w.-]))`
const TOKEN_RULES: { readonly [language: string]: string } = {
  json: `(?<key>${QUOTED_PATTERN}(?=\\s*:))|(?<string>${QUOTED_PATTERN})|${NUMBER_PATTERN}|(?<word>\\b(?:true|false|null)\\b)`,
  yaml: `(?<comment>(?<=^|\\s)#.*)|(?<code>\\$\\{\\{.*?\\}\\})|(?<key>[\\w.$-]+(?=:(?:\\s|$)))|(?<string>${QUOTED_PATTERN}|'[^'\\n]*')|${NUMBER_PATTERN}|(?<word>(?<=[\\s[{,:])(?:true|false|null)(?=[\\s,\\]}]|$))`,
  typescript: `(?<comment>//.*|/\\*[^]*?\\*/)|(?<string>${QUOTED_PATTERN}|'(?:[^'\\\\\\n]|\\\\.)*'|\`(?:[^\`\\\\]|\\\\.)*\`)|${NUMBER_PATTERN}|(?<word>\\b(?:import|export|from|const|let|async|await|function|return|if|else|for|of|new|true|false|null|undefined|type|default|throw|try|catch)\\b)|(?<key>\\b\\w+(?=\\s*:))`,
}

/**
 * Cuts a text into pieces that can be coloured; together they are the text. A text that is too long
 * stays in one piece.
 */
export function tokenize(text: string, language: CodeLanguage): readonly CodeToken[] {
  const rule = TOKEN_RULES[language]
  if (rule === undefined || text.length > MAX_CHARS) return [{ text }]
  const tokens: CodeToken[] = []
  let at = 0
  for (const match of text.matchAll(new RegExp(rule, 'gm'))) {
    if (match.index > at) tokens.push({ text: text.slice(at, match.index) })
    const kind = Object.entries(match.groups!).find(([, found]) => found !== undefined)![0]
    tokens.push({ text: match[0], kind })
    at = match.index + match[0].length
  }
  if (at < text.length) tokens.push({ text: text.slice(at) })
  return tokens
}
