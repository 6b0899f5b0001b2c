/** A short name for a place that has none: the host, and the port where there is one. */
export function placeName(url: string): string {
  const host = URL.canParse(url) ? new URL(url).host : url
  return (
    host
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 64) || 'server'
  )
}

/** An address as messages may show it: without credentials and query. */
export function shownAddress(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//').replace(/[?#].*$/s, '')
}
