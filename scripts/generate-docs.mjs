// `node scripts/generate-docs.mjs`: writes into README.md and docs/ what the program really prints.
// The tests check that nothing is left to write.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { refreshPage } from './docs/refresh.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
for (const file of [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]) {
  const page = readFileSync(file, 'utf8')
  const fresh = refreshPage(page)
  if (fresh === page) continue
  writeFileSync(file, fresh)
  console.log(`${file} was refreshed`)
}
