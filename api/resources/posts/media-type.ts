export { mediaTypeOf, typeOfMime, type MediaType } from '../../../infra/contract/media-type.ts';
