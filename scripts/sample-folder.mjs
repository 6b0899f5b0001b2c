// The little project that the demonstration and the documentation work on.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const files = {
  'README.md': '# Weather\n\nTells the weather of a town.\n',
  'docs/guide.md': '# Guide\n\nAsk for a town.\nFIXME: say which towns are known.\n',
  'src/app.js': "import { ask } from './ask.js'\n\nconsole.log(await ask(process.argv[2]))\n",
  'src/app.test.js': "import './app.js'\n",
  'src/ask.js':
    '// FIXME: ask a real service\nexport const ask = async (town) => `It rains in ${town}.`\n',
  'logo.png': '\x89PNG\r\n\x1a\n\0\0\0',
  'build.tmp': 'left over\n',
  'old.tmp': 'left over too\n',
  '.env': 'TOWN=Bremen\n',
}

/**
 * Makes the folder in the temporary directory; every file has the same date, so that outputs can be
 * compared.
 */
export function makeSampleFolder() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'weather-')))
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, 'latin1')
    utimesSync(file, new Date('2026-11-01T12:00:00Z'), new Date('2026-11-01T12:00:00Z'))
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
