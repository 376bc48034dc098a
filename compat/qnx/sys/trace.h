#include "../trace.h"
