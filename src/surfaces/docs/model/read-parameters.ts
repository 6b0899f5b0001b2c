import type { FlagSpec } from '../../../define/flags/flag-spec.ts'
import { argumentTerm, isArgument, isEmptyValue, optionTerm } from '../../cli/help/options.ts'
import type { DocParameter } from './model.ts'
import { limitsOf } from './limits.ts'
import { shapeOf } from './shape.ts'
import { cutText, tidyLine } from './tidy-text.ts'

const LONGEST_VALUE = 200

/** The fields of a tool that people are meant to see, in the order of help. */
export function readParameters(specs: readonly FlagSpec[]): DocParameter[] {
  return specs
    .filter((spec) => !spec.hidden)
    .map((spec) => {
      const limits = limitsOf(spec.schema)
      return {
        field: spec.field,
        term: tidyLine(isArgument(spec) ? argumentTerm(spec) : optionTerm(spec)),
        ...(spec.short !== undefined && { short: spec.short }),
        type: shapeOf(spec.schema),
        required: spec.required,
        ...(spec.default !== undefined &&
          !isEmptyValue(spec.default) && {
            fallback: cutText(tidyLine(JSON.stringify(spec.default) ?? ''), LONGEST_VALUE),
          }),
        ...(spec.choices && { choices: spec.choices.map(tidyLine) }),
        ...(limits !== undefined && { limits }),
        ...(spec.env !== undefined && { env: tidyLine(spec.env) }),
        ...(spec.description !== undefined && { description: tidyLine(spec.description) }),
      }
    })
}
