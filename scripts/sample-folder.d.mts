export declare function makeSampleFolder(): { readonly folder: string; remove(): void }
