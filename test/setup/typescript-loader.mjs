import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Compiles `.ts` files with an inline source map; every other module is loaded as usual. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context)
  const { transform } = await import('esbuild')
  const file = fileURLToPath(url)
  const { code } = await transform(await readFile(file, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'node20.19',
    sourcemap: 'inline',
    sourcefile: file,
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  })
  return { format: 'module', shortCircuit: true, source: code }
}
