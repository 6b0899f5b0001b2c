// What a page of the documentation says about the program, made true again.
import { agentTable } from './agent-table.mjs'
import { runConsole } from './console.mjs'
import { errorTable } from './error-table.mjs'
import { mapFences } from './fences.mjs'
import { readRegion } from './regions.mjs'

/**
 * The page with regions, console blocks and generated tables as they are now; a page that is up to
 * date comes back unchanged.
 */
export function refreshPage(page) {
  const fenced = mapFences(page, ({ language, words, body, region }) => {
    if (region !== undefined) return readRegion(region)
    return language === 'console'
      ? runConsole(body, { terminal: words.includes('terminal') })
      : body
  })
  return fenced.replace(
    /(<!-- (error|agent) table -->\n)[^]*?(<!-- end -->)/,
    (_all, begin, name, end) => `${begin}${TABLES[name]()}\n${end}`,
  )
}

const TABLES = { error: errorTable, agent: agentTable }
