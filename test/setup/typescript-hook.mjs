// Preloaded into every test worker, so that node itself loads src/*.ts and V8 coverage can follow
// the source map.
import { register } from 'node:module'

register('./typescript-loader.mjs', import.meta.url)
