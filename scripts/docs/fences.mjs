// Code fences of a Markdown page.

const FENCE =
  /^(?<before><!-- region (?<region>\S+) -->\n)?```(?<info>[^\n`]*)\n(?<body>[^]*?)^```$/gm

/**
 * The fences of a page, in order: language, the words behind it, the text, and the region of a file
 * that it shows.
 */
export function listFences(page) {
  return [...page.matchAll(FENCE)].map(({ groups }) => describe(groups))
}

/** The page with the text of each fence replaced by what `change` gives for it. */
export function mapFences(page, change) {
  return page.replace(FENCE, (...found) => {
    const groups = found.at(-1)
    return `${groups.before ?? ''}\`\`\`${groups.info}\n${change(describe(groups))}\`\`\``
  })
}

function describe({ info, body, region }) {
  const [language = '', ...words] = info.trim().split(/\s+/)
  return { language, words, body, region }
}
