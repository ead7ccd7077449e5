// All that the CUDA runtime asks of a driver before it finds it too old.

extern "C" int cuDriverGetVersion(int* version) {
  *version = 11040;
  return 0;
}
