import type { Check } from '../check-type.ts'
import {
  badJson,
  missingField,
  unknownFlag,
  unknownKey,
  unknownTool,
  wrongType,
} from './bad-input.ts'
import { describedFields, inputSchemas, summaries } from './description.ts'
import { deterministic, discovery, discoveryTime, hasTools } from './discovery.ts'
import { examples } from './examples.ts'
import { help, readableHelp } from './help.ts'
import { closedPipe, controlFlagAsValue, noEscapes, noPrompts, pureSuccess } from './manners.ts'

/** Every check, in the order in which a reader wants to know. */
export const CHECKS: readonly Check[] = [
  discovery,
  hasTools,
  deterministic,
  discoveryTime,
  summaries,
  inputSchemas,
  describedFields,
  examples,
  badJson,
  missingField,
  wrongType,
  unknownKey,
  unknownFlag,
  unknownTool,
  pureSuccess,
  controlFlagAsValue,
  help,
  readableHelp,
  closedPipe,
  noPrompts,
  noEscapes,
]
