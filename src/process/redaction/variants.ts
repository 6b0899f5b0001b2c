/** Characters of the shortest secret; a shorter one would be found everywhere. */
export const SHORTEST_SECRET = 6
/** Characters of a line of a secret that is worth looking for by itself. */
const SHORTEST_LINE = 8

/** Every form in which a secret may turn up in what a program writes, without repeats. */
export function listVariants(secret: string): readonly Buffer[] {
  const forms = new Map<string, Buffer>()
  for (const part of listParts(secret)) {
    for (const form of [...listTexts(part), ...listBase64(part)]) {
      const bytes = Buffer.from(form)
      forms.set(bytes.toString('latin1'), bytes)
    }
  }
  return [...forms.values()]
}

// A secret of several lines is often shown line by line, and its line feeds are often written as \n.
function listParts(secret: string): readonly string[] {
  const whole = secret.trim()
  const lines = whole
    .split(/\r?\n|(?:\\r)?\\n/)
    .map((line) => line.trim())
    .filter((line) => line !== whole && line.length >= SHORTEST_LINE)
  return [whole, ...lines]
}

function listTexts(text: string): readonly string[] {
  const escaped = [
    inJson(text),
    inJson(text).replaceAll('/', '\\/'),
    inAsciiJson(text, false),
    inAsciiJson(text, true),
    ...CAREFUL_JSON.map(([characters, upper]) => inCarefulJson(text, characters, upper)),
  ]
  const hex = Buffer.from(text).toString('hex')
  return [
    text,
    text.replaceAll('\n', '\r\n'),
    ...escaped,
    ...escaped.map(inJson),
    asEscapes(text, false),
    asEscapes(text, true),
    ...URL_SAFE.flatMap((kept) => [
      percentEncode(text, kept),
      lowerPercents(percentEncode(text, kept)),
    ]),
    ...URL_SAFE.map((kept) => percentEncode(text, kept).replaceAll('%20', '+')),
    encodeURIComponent(percentEncode(text, URL_SAFE[0]!)),
    ...QUOTES_IN_MARKUP.map(([double, single]) => inMarkup(text, double, single)),
    text.replaceAll("'", String.raw`'\''`),
    text.replaceAll("'", `'"'"'`),
    text.replaceAll("'", "''"),
    text.replaceAll("'", String.raw`\'`),
    text.replace(/["$`\\]/g, '\\$&'),
    text.replace(/[^A-Za-z0-9_./:@%+=,-]/g, '\\$&'),
    inJson(text)
      .replaceAll(String.raw`\"`, '"')
      .replaceAll("'", String.raw`\'`),
    hex,
    hex.toUpperCase(),
  ]
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function inAsciiJson(text: string, upper: boolean): string {
  return inJson(text).replace(/[\x7f-\uffff]/g, (unit) => unicodeEscape(unit, upper))
}

/** What careful writers of JSON escape besides, so that it can stand in a page: Go and Ruby, PHP and Django, .NET. */
const CAREFUL_JSON = [
  [/[<>&\u2028\u2029]/, false],
  [/[<>&]/, true],
  [/[<>&'"+`\x7f-\u{10ffff}]/u, true],
] as const

function inCarefulJson(text: string, escaped: RegExp, upper: boolean): string {
  return text.replace(/[^]/gu, (character) =>
    escaped.test(character) ? asEscapes(character, upper) : inJson(character),
  )
}

function asEscapes(text: string, upper: boolean): string {
  return text.replace(/[^]/g, (unit) => unicodeEscape(unit, upper))
}

function unicodeEscape(unit: string, upper: boolean): string {
  const hex = unit.charCodeAt(0).toString(16).padStart(4, '0')
  return `\\u${upper ? hex.toUpperCase() : hex}`
}

/** What writers of URLs leave as it is, besides letters and digits: by the standard, encodeURIComponent, encodeURI, Python, forms. */
const URL_SAFE = ['-_.~', "-_.~!'()*", "-_.~!'()*;/?:@&=+$,#", '-_.~/', '-_.*']

function percentEncode(text: string, kept: string): string {
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[^A-Za-z0-9]/g, (character) =>
      kept.includes(character)
        ? character
        : `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
}

function lowerPercents(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
}

const QUOTES_IN_MARKUP = [
  ['"', "'"],
  ['&quot;', "'"],
  ['&quot;', '&#39;'],
  ['&quot;', '&apos;'],
  ['&quot;', '&#x27;'],
  ['&#34;', '&#39;'],
] as const

function inMarkup(text: string, double: string, single: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', double)
    .replaceAll("'", single)
}

// What stands before a secret moves it against the groups of three bytes, and both ends mix with what is beside them; only what is between is always the same.
function listBase64(text: string): readonly string[] {
  const bytes = Buffer.from(text)
  const standard = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
  })
  const whole = bytes.toString('base64')
  const wrapped = [64, 76].flatMap((width) =>
    whole.length > width
      ? (whole.match(new RegExp(`.{${SHORTEST_LINE},${width}}`, 'g')) ?? [])
      : [],
  )
  return [...standard, whole, ...wrapped].flatMap((form) => [
    form,
    form.replaceAll('+', '-').replaceAll('/', '_'),
    form.replaceAll('/', '\\/'),
  ])
}
