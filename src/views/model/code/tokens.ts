/** A piece of a text, and what it is in its language. */
export type Token = { readonly text: string; readonly kind?: string }

export type Language = 'yaml' | 'json' | 'typescript' | 'text'

const MOST = 100_000
const QUOTED = String.raw`"(?:[^"\\\n]|\\.)*"`
const NUMBER = String.raw`(?<number>(?<![\w.-])-?\d[\d.]*(?:[eE][+-]?\d+)?(?![\w.-]))`
const RULES: { readonly [language: string]: string } = {
  json: `(?<key>${QUOTED}(?=\\s*:))|(?<string>${QUOTED})|${NUMBER}|(?<word>\\b(?:true|false|null)\\b)`,
  yaml: `(?<comment>(?<=^|\\s)#.*)|(?<code>\\$\\{\\{.*?\\}\\})|(?<key>[\\w.$-]+(?=:(?:\\s|$)))|(?<string>${QUOTED}|'[^'\\n]*')|${NUMBER}|(?<word>(?<=[\\s[{,:])(?:true|false|null)(?=[\\s,\\]}]|$))`,
  typescript: `(?<comment>//.*|/\\*[^]*?\\*/)|(?<string>${QUOTED}|'(?:[^'\\\\\\n]|\\\\.)*'|\`(?:[^\`\\\\]|\\\\.)*\`)|${NUMBER}|(?<word>\\b(?:import|export|from|const|let|async|await|function|return|if|else|for|of|new|true|false|null|undefined|type|default|throw|try|catch)\\b)|(?<key>\\b\\w+(?=\\s*:))`,
}

/** Cuts a text into pieces that can be coloured; together they are the text. A text that is too long stays in one piece. */
export function tokensOf(text: string, language: Language): readonly Token[] {
  const rule = RULES[language]
  if (rule === undefined || text.length > MOST) return [{ text }]
  const tokens: Token[] = []
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
