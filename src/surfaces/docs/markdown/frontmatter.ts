type Value = string | boolean | { readonly [key: string]: string }

// Words that some version of YAML takes for something else than text.
const TAKEN = /^(?:y|n|yes|no|on|off|true|false|null)$/

/** The YAML head of a Markdown file. Every value stands on one line, so that readers that know little YAML read it too. */
export function frontmatter(fields: { readonly [key: string]: Value | undefined }): string {
  const lines = Object.entries(fields).flatMap(([key, value]) => {
    if (value === undefined) return []
    if (typeof value !== 'object') return [`${key}: ${scalar(value)}`]
    return [
      `${key}:`,
      ...Object.entries(value).map(([inner, text]) => `  ${inner}: ${scalar(text)}`),
    ]
  })
  return `---\n${lines.join('\n')}\n---\n`
}

// A text in JSON is one in YAML too, whatever it holds. Two letters at the start are no number: `e0` is one to some.
function scalar(value: string | boolean): string {
  if (typeof value === 'boolean') return String(value)
  return /^[a-z]{2}[a-z0-9-]*$/.test(value) && !TAKEN.test(value) ? value : JSON.stringify(value)
}
